import type { Error as Told } from './api';
import { ApiError, Broken, readAnswer } from './errors';
import { textLines } from './logview/source';
import type { IJobManager } from './tokens';

/** One line of the server's answer: what is being done, or at last why it came to nothing. */
interface ISaid {
  readonly line?: string;
  readonly error?: Told;
}

/** Do what can be done about a kernel, told line by line; ends on the server too when it is given up. */
export async function repairKernel(
  asker: Pick<IJobManager, 'fetch'>,
  which: string,
  signal: AbortSignal,
  progress: (line: string) => void
): Promise<void> {
  const response = await asker.fetch('kernels/repair', { method: 'POST', body: { which }, signal });
  try {
    for await (const texts of textLines(response.body, 1)) {
      const { line = '', error } = readAnswer(texts[0] ?? '{}') as ISaid;
      if (error) {
        throw new ApiError(400, error);
      }
      progress(line);
    }
  } catch (error) {
    // Browsers say that a body broke off by a TypeError, each in words of its own.
    throw error instanceof TypeError ? new Broken(error.message) : error;
  }
}
