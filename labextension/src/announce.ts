import type { TranslationBundle } from '@jupyterlab/translation';

import { phaseLabel } from './phases';
import type { IJob } from './wire';

/** More sentences than this at once are a count: a screen reader must not be kept busy by a burst. */
const MANY = 3;

/** What to say about the step from one picture to the next: new jobs, other phases, jobs that went. */
export function changes(
  before: ReadonlyArray<IJob>,
  after: ReadonlyArray<IJob>,
  trans: TranslationBundle
): ReadonlyArray<string> {
  const known = new Map(before.map(job => [job.id, job]));
  const now = new Set(after.map(job => job.id));
  const lines = [
    ...after
      .filter(job => known.get(job.id)?.phase !== job.phase)
      .map(job => trans.__('%1 is %2.', job.name, phaseLabel(job.phase, trans))),
    ...before.filter(job => !now.has(job.id)).map(job => trans.__('%1 was deleted.', job.name))
  ];
  return lines.length > MANY ? [trans.__('%1 jobs changed.', lines.length)] : lines;
}
