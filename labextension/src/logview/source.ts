import { Broken, readAnswer } from '../errors';
import type { IJobManager } from '../tokens';
import { WireError } from '../wire';
import { readLine, type ILogLine } from './line';

/** Which lines are asked for, by the server's own words. */
export interface ILogQuery {
  readonly run?: number | null;
  readonly rank?: number | null;
  readonly fold?: boolean;
  readonly grep?: string;
  readonly tail?: number;
  readonly limit?: number;
  readonly before?: string;
  readonly after?: string;
}

export interface IPage {
  readonly lines: ReadonlyArray<ILogLine>;
  /** Why there is no log; `null` where there is one, or where nobody said. */
  readonly silence: string | null;
}

/** Where a log comes from; a test passes its own. */
export interface ILogSource {
  page(query: ILogQuery): Promise<IPage>;
  /**
   * Lines as they come, until the run has ended; throws when the connection breaks. None at all come first, when
   * somebody answers: a quiet log has no line to tell it by.
   */
  follow(query: ILogQuery, signal: AbortSignal): AsyncIterable<ReadonlyArray<ILogLine>>;
  /** Where the whole log is to be had as a file. */
  fileUrl(query: ILogQuery): string;
}

/** Lines read before the page gets a turn: far below what a reader could notice. */
const AT_ONCE = 500;

/** Milliseconds without a byte after which a stream is dead: the server says every twenty seconds that it lives. */
const SILENCE = 60_000;

/** The log of one job over `jobs/{id}/logs`. */
export class JobLog implements ILogSource {
  constructor(
    private readonly _asker: Pick<IJobManager, 'fetch' | 'read' | 'url'>,
    private readonly _job: string
  ) {}

  async page(query: ILogQuery): Promise<IPage> {
    const { headers, text } = await this._asker.read(this._path, { query: { ...query } });
    const said = headers.get('X-Aiarts-No-Log');
    const lines = readAnswer(text);
    if (!Array.isArray(lines)) {
      throw new WireError('unexpected logs: not a list');
    }
    return { lines: lines.map(readLine), silence: said === null ? null : decodeURIComponent(said) };
  }

  async *follow(query: ILogQuery, signal: AbortSignal): AsyncGenerator<ReadonlyArray<ILogLine>> {
    const line = new AbortController();
    const hangUp = (): void => line.abort();
    signal.addEventListener('abort', hangUp);
    try {
      const asked = this._asker.fetch(this._path, { query: { ...query, follow: true }, signal: line.signal });
      const { body } = await inTime(asked, SILENCE);
      yield [];
      for await (const texts of textLines(body, AT_ONCE, SILENCE)) {
        yield texts.map(text => readLine(readAnswer(text)));
      }
    } catch (error) {
      // Browsers say that a body broke off by a TypeError, each in words of its own.
      throw error instanceof TypeError ? new Broken(error.message) : error;
    } finally {
      hangUp();
      signal.removeEventListener('abort', hangUp);
    }
  }

  fileUrl(query: ILogQuery): string {
    return this._asker.url(this._path, { run: query.run, rank: query.rank, format: 'text', download: true });
  }

  private get _path(): string {
    return `jobs/${this._job}/logs`;
  }
}

/**
 * The lines of a streamed body, some at a time; a reader who stops asking stops the transfer too. Throws `Broken` where
 * nothing at all comes for `patience` milliseconds.
 */
export async function* textLines(
  body: ReadableStream<Uint8Array> | null,
  atOnce: number,
  patience = Infinity
): AsyncGenerator<ReadonlyArray<string>> {
  if (body === null) {
    return;
  }
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await inTime(reader.read(), patience);
      rest += value ? decoder.decode(value, { stream: true }) : '';
      const texts = rest.split('\n');
      rest = done ? '' : (texts.pop() ?? '');
      const whole = texts.filter(text => text.trim());
      for (let at = 0; at < whole.length; at += atOnce) {
        yield whole.slice(at, at + atOnce);
      }
      if (done) {
        return;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** The answer, unless it takes longer than that: a connection may die without anybody being told. */
async function inTime<T>(answer: Promise<T>, patience: number): Promise<T> {
  if (patience === Infinity) {
    return answer;
  }
  let timer = 0;
  const late = new Promise<never>((_, reject) => {
    timer = window.setTimeout(() => reject(new Broken('nothing came for long')), patience);
  });
  return Promise.race([answer, late]).finally(() => window.clearTimeout(timer));
}
