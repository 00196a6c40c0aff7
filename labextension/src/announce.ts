import type { TranslationBundle } from '@jupyterlab/translation';

import { phaseLabel } from './phases';
import type { IJob } from './wire';

/** More sentences than this at once are a count: a screen reader must not be kept busy by a burst. */
const MANY = 3;

/** What to say about the step from one picture to the next: new jobs, other phases, jobs that went. */
export function changes(
  first: ReadonlyArray<IJob>,
  second: ReadonlyArray<IJob>,
  trans: TranslationBundle
): ReadonlyArray<string> {
  const [before, after] = differing(first, second);
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

/** Both without what they begin and end with in common: of ten thousand jobs that is nearly everything. */
function differing(
  before: ReadonlyArray<IJob>,
  after: ReadonlyArray<IJob>
): readonly [ReadonlyArray<IJob>, ReadonlyArray<IJob>] {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) {
    start += 1;
  }
  let end = 0;
  while (end < most - start && before[before.length - 1 - end] === after[after.length - 1 - end]) {
    end += 1;
  }
  return [before.slice(start, before.length - end), after.slice(start, after.length - end)];
}
