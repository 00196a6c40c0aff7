import type { TranslationBundle } from '@jupyterlab/translation';

import { when } from './times';
import type { IJobManager } from './tokens';
import type { IIdleKernel, IJob } from './wire';

/** Milliseconds of rest that a snooze gives. */
const SNOOZE = 3_600_000;
/** Names in one notice; the others are counted. */
const NAMED = 3;

/** What holds cards that do nothing: since when is a part of it, so that one that worked in between is told of again. */
export type Idle = IIdleJob | (IIdleKernel & { readonly isKernel: true });

/** A job of this user's. */
export type IIdleJob = IJob & { readonly idleSince: string; readonly isKernel?: false };

/** Shows one notice, and takes it away again; made of JupyterLab's notifications by the idle plugin. */
export interface INotice {
  show(idle: ReadonlyArray<Idle>): void;
  /** Some of those that it is about are idle no more: say so, if it is still there; whether it was. */
  change(idle: ReadonlyArray<Idle>): boolean;
  hide(): void;
}

/** Until when what is not told of, by `key`; kept where a page that is loaded anew finds it. */
export type Rests = Readonly<Record<string, number>>;
export interface IRests {
  load(): Rests;
  save(rests: Rests): void;
  /** Call it whenever another page has saved some; what it returns ends that. */
  listen(changed: () => void): () => void;
}

/**
 * Watches this user's jobs and notebooks whose cards do nothing, and has one notice for all of them: shown when another
 * one is idle for too long, gone when none is. It stops nothing: that is a person's decision.
 */
export class IdleWatch {
  constructor(
    private readonly _manager: IJobManager,
    private readonly _notice: INotice,
    private readonly _kept: IRests
  ) {
    this._learn();
    this._deafen = _kept.listen(() => {
      this._learn();
      this._look();
    });
    _manager.changed.connect(this._look, this);
  }

  /** Minutes that cards may be idle before it is told; 0: as long as they like. */
  get minutes(): number {
    return this._minutes;
  }

  set minutes(value: number) {
    this._minutes = value;
    this._look();
  }

  /** Not again about these within the hour; called by the notice's button. */
  snooze(): void {
    this._learn();
    const until = this._manager.now() + SNOOZE;
    this._shown.forEach(key => this._rests.set(key, until));
    this._kept.save(Object.fromEntries(this._rests));
    this._shown = new Set();
    this._look();
  }

  dispose(): void {
    window.clearTimeout(this._timer);
    this._deafen();
    this._manager.changed.disconnect(this._look, this);
  }

  /** What other pages snoozed is snoozed here too, and stays when this one saves its own. */
  private _learn(): void {
    Object.entries(this._kept.load()).forEach(([key, until]) => this._rests.set(key, until));
  }

  private _look(): void {
    window.clearTimeout(this._timer);
    if (this._manager.link.state !== 'live') {
      return;
    }
    const idle = this._minutes > 0 ? this._idle() : [];
    const now = this._manager.now(); // the server's clock: `idleSince` is of it
    this._rests = new Map([...this._rests].filter(([, until]) => until > now));
    // Those that come within a second are told of together: a notice that is just being made cannot be changed.
    const soon = idle.some(one => this._due(one) <= now) ? now + 1000 : now;
    const due = idle.filter(one => this._due(one) <= soon);
    if (due.some(one => !this._shown.has(key(one)))) {
      this._notice.show(due);
    } else if (due.length === 0 && this._shown.size > 0) {
      this._notice.hide();
    } else if (due.length < this._shown.size) {
      this._notice.change(due);
    }
    this._shown = new Set(due.map(key));
    const next = Math.min(...idle.map(one => this._due(one)).filter(at => at > soon));
    if (next < Infinity) {
      this._timer = window.setTimeout(() => this._look(), Math.min(next - now + 50, 0x7fffffff));
    }
  }

  private _idle(): ReadonlyArray<Idle> {
    const jobs = this._manager.jobs.filter(
      (job): job is IIdleJob => job.phase === 'running' && job.idleSince !== undefined && this._manager.isMine(job)
    );
    return [...jobs, ...this._manager.idleKernels.map(kernel => ({ ...kernel, isKernel: true as const }))];
  }

  /** When to tell of it, in milliseconds since 1970. */
  private _due(idle: Idle): number {
    return Math.max(Date.parse(idle.idleSince) + this._minutes * 60_000, this._rests.get(key(idle)) ?? 0);
  }

  private _minutes = 30;
  private readonly _deafen: () => void;
  private _rests = new Map<string, number>();
  private _shown = new Set<string>();
  private _timer = 0;
}

/** What the notice says. */
export function idleText(idle: ReadonlyArray<Idle>, trans: TranslationBundle): string {
  const [first] = idle;
  if (first !== undefined && idle.length === 1) {
    return oneText(first, when(first.idleSince), trans);
  }
  const some = idle.slice(0, NAMED).map(({ name }) => name).join(', ');
  const names = idle.length > NAMED ? `${some} …` : some;
  const kernels = idle.filter(({ isKernel }) => isKernel).length;
  if (kernels === 0) {
    return trans.__('%1 jobs hold cards that do nothing: %2', idle.length, names);
  }
  return kernels === idle.length
    ? trans.__('%1 notebooks hold cards that do nothing: %2', idle.length, names)
    : trans.__('%1 jobs and notebooks hold cards that do nothing: %2', idle.length, names);
}

function oneText(idle: Idle, since: string, trans: TranslationBundle): string {
  if (!idle.isKernel) {
    return trans.__('%1 holds cards that have done nothing since %2.', idle.name, since);
  }
  return idle.cards === 1
    ? trans.__('%1 holds a card that has done nothing since %2.', idle.name, since)
    : trans.__('%1 holds %2 cards that have done nothing since %3.', idle.name, idle.cards, since);
}

function key({ id, idleSince }: Idle): string {
  return `${id} ${idleSince}`;
}
