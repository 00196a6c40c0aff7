/**
 * A job's life on a line: when it waited, ran and rested, and what happened meanwhile; pure.
 */
import type { TranslationBundle } from '@jupyterlab/translation';

import type { Attempt, Event, Job } from '../api';

/** A stretch of time as parts of the whole line, from 0 to 1. */
export interface ISpell {
  readonly kind: 'waiting' | 'run' | 'paused' | 'unknown';
  readonly run: number;
  readonly phase: string;
  readonly from: string;
  /** `null` while it goes on. */
  readonly until: string | null;
  readonly left: number;
  readonly width: number;
}

export interface IMark {
  readonly at: number;
  readonly event: Event;
}

export interface ITimeline {
  readonly spells: ReadonlyArray<ISpell>;
  readonly marks: ReadonlyArray<IMark>;
}

type Stretch = Omit<ISpell, 'left' | 'width'>;

/** `now` is milliseconds since 1970. A clock that is wrong gives short spells, never negative ones. */
export function timeline(job: Job, events: ReadonlyArray<Event>, now: number): ITimeline {
  const stretches = spells(job);
  const known = stretches
    .flatMap(({ from, until }) => [moment(from), until === null ? now : moment(until)])
    .filter(Number.isFinite);
  const begin = Math.min(...known);
  const length = Math.max(1, Math.max(...known) - begin);
  const part = (at: number): number => Math.min(1, Math.max(0, (at - begin) / length));
  return {
    spells: stretches.map(one => {
      const left = part(moment(one.from));
      return { ...one, left, width: Math.max(0, part(one.until === null ? now : moment(one.until)) - left) };
    }),
    marks: events.filter(({ t }) => Number.isFinite(moment(t))).map(event => ({ at: part(moment(event.t)), event }))
  };
}

function spells(job: Job): ReadonlyArray<Stretch> {
  const runs = job.earlier ?? [];
  const first = job.run - runs.length;
  const earlier = runs.map(({ started, ended }, index): Stretch => ({
    kind: 'run',
    run: first + index,
    phase: 'ended',
    from: started,
    until: ended
  }));
  // Between the last run and this one nobody knows whether it waited or rested, so that is not drawn.
  const { started = null, ended = null } = job;
  const only: Attempt = { queued: earlier.length === 0 ? job.created : null, started, ended };
  const attempts = job.attempts ?? [only];
  const current = attempts.flatMap((one, index) => stretches(job, one, attempts[index + 1] ?? null));
  return [...earlier, ...current].filter(({ from }) => Number.isFinite(moment(from)));
}

/** How one attempt of the run waited, ran and rested until the next one; what nobody knows is said to be unknown. */
function stretches(job: Job, attempt: Attempt, next: Attempt | null): ReadonlyArray<Stretch> {
  const { queued = null, started = null, ended = null } = attempt;
  const over = next === null ? (job.ended ?? null) : (next.queued ?? next.started ?? job.ended ?? null);
  const put: Put = (kind, from, until, phase) =>
    from === null ? [] : [{ kind, run: job.run, phase, from, until }];
  if (started === null) {
    const hasRun = next === null ? job.attempts !== undefined && RAN.includes(job.phase) : ended === null;
    const until = next !== null && hasRun ? over : ended;
    return [...put(hasRun ? 'unknown' : 'waiting', queued, until, 'queued'), ...rest(job, attempt, next, put, over)];
  }
  const waited = put('waiting', queued, started, 'queued');
  if (next !== null && ended === null) {
    return [...waited, ...put('unknown', started, over, 'ended')];
  }
  const phase = next === null && job.phase !== 'paused' ? job.phase : 'ended';
  return [...waited, ...put('run', started, ended, phase), ...rest(job, attempt, next, put, over)];
}

/** Phases that a job has only once it ran. */
const RAN: ReadonlyArray<string> = ['running', 'succeeded', 'failed'];

type Put = (kind: ISpell['kind'], from: string | null, until: string | null, phase: string) => ReadonlyArray<Stretch>;

/** The pause after an attempt: before the next one, to this moment, or until the job was stopped out of it. */
function rest(job: Job, { ended = null }: Attempt, next: Attempt | null, put: Put, over: string | null): ReadonlyArray<Stretch> {
  if (ended === null) {
    return [];
  }
  if (next !== null) {
    return put((next.queued ?? null) === null ? 'unknown' : 'paused', ended, over, 'paused');
  }
  const isStopped = over !== null && moment(over) > moment(ended);
  return job.phase === 'paused' || isStopped ? put('paused', ended, isStopped ? over : null, 'paused') : [];
}

function moment(t: string): number {
  return Date.parse(t);
}

/** A length of time as a person says it: 0.3 s, 17 s, 12 min 34 s, 3 h 12 min, 2 d 3 h. */
export function lasting(from: string, until: string | null, now: number, trans: TranslationBundle): string {
  const exact = Math.max(0, ((until === null ? now : moment(until)) - moment(from)) / 1000);
  if (exact < 9.95) {
    return trans.__('%1 s', exact.toFixed(1));
  }
  const seconds = Math.round(exact);
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60
  ];
  if (days > 0) {
    return trans.__('%1 d %2 h', days, hours);
  }
  if (hours > 0) {
    return trans.__('%1 h %2 min', hours, minutes);
  }
  return minutes > 0 ? trans.__('%1 min %2 s', minutes, seconds % 60) : trans.__('%1 s', seconds);
}
