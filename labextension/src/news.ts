import type { TranslationBundle } from '@jupyterlab/translation';

import type { IJob } from './wire';

/** More news than this at once are one: a screen full of cards is not read. */
const MANY = 3;

/** One thing somebody wants to be told of without looking; `kind` is how JupyterLab colours it. */
export interface INews {
  readonly kind: 'success' | 'error' | 'info';
  readonly text: string;
}

/** What ended by itself between two pictures; a stop is no news to whoever asked for it. */
export function ended(
  before: ReadonlyMap<string, IJob>,
  after: ReadonlyArray<IJob>,
  trans: TranslationBundle
): ReadonlyArray<INews> {
  const news = after.flatMap(job => (before.get(job.id)?.phase === job.phase ? [] : end(job, trans)));
  if (news.length <= MANY) {
    return news;
  }
  const failed = news.filter(one => one.kind === 'error').length;
  return [
    {
      kind: failed ? 'error' : 'success',
      text: trans.__('%1 jobs have ended, %2 of them failed.', news.length, failed)
    }
  ];
}

function end(job: IJob, trans: TranslationBundle): ReadonlyArray<INews> {
  switch (job.phase) {
    case 'succeeded':
      return [{ kind: 'success', text: trans.__('%1 is done.', job.name) }];
    case 'failed':
    case 'lost':
      return [{ kind: 'error', text: trans.__('%1 failed: %2', job.name, job.explanation?.title ?? job.phase) }];
    default:
      return [];
  }
}

/** The news that a job has been waiting for long, with the reason as far as it is known. */
export function waits(job: IJob, minutes: number, trans: TranslationBundle): INews {
  const why = job.explanation?.title ?? '';
  return { kind: 'info', text: trans.__('%1 has been waiting for %2 minutes. %3', job.name, minutes, why).trim() };
}
