/**
 * Which jobs the list shows and in what order: pure, so that ten thousand of them are tested without a page.
 */
import type { IJob, Phase } from './wire';

/** Groups from what happens now to what is over. */
export const GROUPS: ReadonlyArray<Phase> = [
  'running',
  'starting',
  'queued',
  'paused',
  'failed',
  'lost',
  'succeeded',
  'stopped'
];

/** What the person wants to see; an empty text is everything. */
export interface IFilter {
  readonly text: string;
  readonly mine: boolean;
  readonly cluster: string;
  readonly queue: string;
  readonly phase: Phase | '';
}

export const EVERYTHING: IFilter = { text: '', mine: false, cluster: '', queue: '', phase: '' };

/** Whether anything is held back. */
export function isNarrow(filter: IFilter): boolean {
  return filter.mine || [filter.text.trim(), filter.cluster, filter.queue, filter.phase].some(Boolean);
}

/** The jobs that a filter lets through; every word of its text must be somewhere in the job. */
export function chosen(
  jobs: ReadonlyArray<IJob>,
  filter: IFilter,
  isMine: (job: IJob) => boolean
): ReadonlyArray<IJob> {
  if (!isNarrow(filter)) {
    return jobs;
  }
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  return jobs.filter(
    job =>
      (!filter.phase || job.phase === filter.phase) &&
      (!filter.cluster || job.cluster === filter.cluster) &&
      (!filter.queue || job.spec.queue === filter.queue) &&
      (!filter.mine || isMine(job)) &&
      words.every(word => haystack(job).includes(word))
  );
}

function haystack(job: IJob): string {
  return [job.name, job.id, job.owner, job.spec.script ?? '', job.spec.image ?? ''].join('\n').toLowerCase();
}

/** One line of the list: the head of a group, or a job. */
export type Row =
  | { readonly kind: 'group'; readonly phase: Phase; readonly count: number; readonly isOpen: boolean }
  | { readonly kind: 'job'; readonly job: IJob };

/** Every row, in order; a closed group is its head alone, an empty one is not there. */
export function rowsOf(jobs: ReadonlyArray<IJob>, closed: ReadonlySet<Phase>): ReadonlyArray<Row> {
  const byPhase = new Map<Phase, IJob[]>();
  for (const job of jobs) {
    const group = byPhase.get(job.phase);
    if (group) {
      group.push(job);
    } else {
      byPhase.set(job.phase, [job]);
    }
  }
  return GROUPS.flatMap(phase => {
    const group = byPhase.get(phase) ?? [];
    const isOpen = !closed.has(phase);
    const head: Row = { kind: 'group', phase, count: group.length, isOpen };
    return group.length === 0 ? [] : [head, ...(isOpen ? group.map(job => ({ kind: 'job', job }) as const) : [])];
  });
}

/** What a row is known by from one picture to the next. */
export function keyOf(row: Row): string {
  return row.kind === 'group' ? `group:${row.phase}` : row.job.id;
}

/** The distinct values of a key among the jobs, sorted; for a choice that offers only what is there. */
export function distinct(jobs: ReadonlyArray<IJob>, read: (job: IJob) => string | null | undefined): string[] {
  const found = new Set<string>();
  for (const job of jobs) {
    const one = read(job);
    if (one) {
      found.add(one);
    }
  }
  return [...found].sort();
}

/** The sentence under a job that waits or went wrong; what only repeats the phase is left out. */
export function reason(job: IJob, label: string): string {
  const title = job.explanation?.title ?? '';
  const isSilent = job.phase === 'running' || job.phase === 'succeeded' || job.phase === 'stopped';
  const repeats = [label, job.phase].some(word => word.toLowerCase() === title.toLowerCase());
  return isSilent && job.explanation?.code === job.phase ? '' : repeats ? '' : title;
}
