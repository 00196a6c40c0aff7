/**
 * Giving back the cards that a notebook holds: its kernel is shut down, after a person said so.
 */
import type { Kernel, Session } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';

import { megabyte } from './amounts';
import { errorText } from './errors';
import type { IQuestion, IRoom } from './moving';
import type { IIdleKernel } from './wire';

/** JupyterLab's own kernels and sessions: what is shut down there, its notebooks and lists know at once. */
export interface IKernels {
  readonly kernels: Pick<Kernel.IManager, 'shutdown'>;
  readonly sessions: Pick<Session.IManager, 'refreshRunning' | 'running' | 'shutdown'>;
}

/** Ask, always, for something is lost; then shut down each of them and tell what came of it. */
export async function release(
  kernels: ReadonlyArray<IIdleKernel>,
  services: IKernels,
  room: Pick<IRoom, 'ask' | 'tell'>,
  trans: TranslationBundle
): Promise<void> {
  if (!(await room.ask(releaseQuestion(kernels, trans)))) {
    return;
  }
  for (const kernel of kernels) {
    try {
      await shutDown(kernel.id, services);
      room.tell(trans.__('Shut down the kernel of %1', kernel.name), 'success');
    } catch (error) {
      room.tell(`${kernel.name}: ${errorText(error, trans)}`, 'error');
    }
  }
}

/** What is given back by it, and what is lost. */
export function releaseQuestion(kernels: ReadonlyArray<IIdleKernel>, trans: TranslationBundle): IQuestion {
  const [first] = kernels;
  const isOne = first !== undefined && kernels.length === 1;
  return {
    title: isOne
      ? trans.__('Shut down the kernel of “%1”?', first.name)
      : trans.__('Shut down the kernels of %1 notebooks?', kernels.length),
    lines: [
      ...kernels.map(one => heldText(one, trans)),
      trans.__('Variables in memory are lost, and what is on the cards. Notebook files and their outputs stay.')
    ],
    accept: trans.__('Shut down'),
    isDanger: true
  };
}

function heldText({ name, path, cards, memoryMb }: IIdleKernel, trans: TranslationBundle): string {
  return memoryMb === null
    ? trans.__('Cards that %1 gives back: %2', path || name, cards)
    : trans.__('Cards that %1 gives back: %2, with %3 on them', path || name, cards, megabyte(memoryMb));
}

/** With its session, where a notebook or console has it. */
async function shutDown(id: string, { kernels, sessions }: IKernels): Promise<void> {
  await sessions.refreshRunning();
  const session = [...sessions.running()].find(({ kernel }) => kernel?.id === id);
  await (session ? sessions.shutdown(session.id) : kernels.shutdown(id));
}
