import { Signal } from '@lumino/signaling';

import type { Event, Fix, FixRequest, Job, JobUsage, PathReport, RankTable, Variables } from '../api';
import { isGone } from '../errors';
import { LogModel } from '../logview/model';
import { JobLog, type ILogSource } from '../logview/source';
import { isFinished } from '../phases';
import { jobEnv, jobEvents, jobUsage, pathReport, rankTable, wholeJob } from '../requests';
import type { IJobManager } from '../tokens';
import type { IJob } from '../wire';
import { Part } from './part';

export const TABS = ['overview', 'logs', 'usage', 'ranks', 'events'] as const;
export type Tab = (typeof TABS)[number];

/** How often usage is asked for while it is looked at: launchers look every half minute. */
const USAGE_EVERY = 15_000;

/** How often a page that is seen looks whether what it hears from still lives. */
const CHECK_EVERY = 60_000;

/**
 * All that a job's page shows. The stream says that something changed, then the job is asked for as a whole;
 * the parts are asked for when their tab is looked at. Made by the page, disposed with it.
 */
export class JobModel {
  constructor(
    readonly id: string,
    private readonly _manager: IJobManager,
    log: ILogSource = new JobLog(_manager, id)
  ) {
    this.logs = new LogModel(log);
    this.job = new Part(() => wholeJob(_manager, id));
    this.events = new Part(() => jobEvents(_manager, id));
    this.usage = new Part(() => jobUsage(_manager, id));
    this.rankTable = new Part(() => rankTable(_manager, id));
    [this.job, this.events, this.usage, this.rankTable].forEach(part => part.changed.connect(() => this._tell()));
    this.job.changed.connect(() => this._learn());
    _manager.changed.connect(this._hear, this);
    this._listed = this.listed;
    this._isMissing = this._isUnlisted;
    void this.job.load();
  }

  readonly changed: Signal<this, void> = new Signal<this, void>(this);
  /** Emitted when another tab is looked at. */
  readonly tabChanged: Signal<this, Tab> = new Signal<this, Tab>(this);
  readonly logs: LogModel;
  readonly job: Part<Job>;
  readonly events: Part<ReadonlyArray<Event>>;
  readonly usage: Part<JobUsage>;
  /** `null` also where the job has none. */
  readonly rankTable: Part<RankTable | null>;

  get tab(): Tab {
    return this._tab;
  }

  /** Whether the job was deleted, here or elsewhere; what was known of it stays on the page. */
  get isGone(): boolean {
    return this._gone;
  }

  /** The name as far as anybody said it. */
  get name(): string {
    return this.job.value?.name ?? this._listed?.name ?? this.id;
  }

  get link(): IJobManager['link'] {
    return this._manager.link;
  }

  /** The job as the list has it, which is what moves are made with; `null` where it is not there. */
  get listed(): IJob | null {
    return this._gone ? null : (this._manager.job(this.id) ?? null);
  }

  now(): number {
    return this._manager.now();
  }

  /** What a path of the job is called elsewhere. */
  place(path: string): Promise<PathReport | null> {
    return pathReport(this._manager, path, this.id);
  }

  /** Do what the explanation suggests, or say what that would change; the page shows what came of it. */
  async fix(request: FixRequest): Promise<Fix> {
    const fix = await this._manager.fix(this.id, request);
    if (fix.done) {
      void this.job.load();
    }
    return fix;
  }

  /** The variables of one rank, asked for once for each run. */
  env(rank: number): Part<Variables> {
    const key = `${this.job.value?.run ?? 0} ${rank}`;
    let part = this._envs.get(key);
    if (part === undefined) {
      part = new Part(() => jobEnv(this._manager, this.id, rank));
      part.changed.connect(() => this._tell());
      this._envs.set(key, part);
    }
    return part;
  }

  /** These ranks' variables are looked at, and asked for again when the job is told of. */
  compare(ranks: ReadonlyArray<number>): void {
    this._compared = ranks;
    if (!this._gone) {
      ranks.forEach(rank => this.env(rank).need());
    }
  }

  /** Look at a tab; what it needs is asked for then. */
  look(tab: Tab): void {
    this._tab = tab;
    this._refresh();
    this.tabChanged.emit(tab);
    this._tell();
  }

  /** Whether the page is seen at all. */
  show(seen: boolean): void {
    this._seen = seen;
    window.clearInterval(this._checking);
    if (seen) {
      this._checking = window.setInterval(() => this._manager.check(), CHECK_EVERY);
    }
    this._refresh();
  }

  dispose(): void {
    window.clearInterval(this._checking);
    window.clearInterval(this._timer);
    this.logs.dispose();
    Signal.disconnectReceiver(this);
    Signal.clearData(this);
  }

  /** The manager has news: of this job, or that it is not listed. A cluster that is away lists none, so that is asked. */
  private _hear(): void {
    const listed = this._manager.job(this.id) ?? null;
    const isMissing = this._isUnlisted;
    // Also the first time that it is listed: it may have changed since it was asked for.
    if (isMissing !== this._isMissing || (listed !== null && isNews(listed, this._listed))) {
      void this.job.load();
      if (!isMissing) {
        this._refreshParts();
      }
    }
    this._isMissing = isMissing;
    this._listed = listed ?? this._listed;
    this._tell();
  }

  /** The whole job came, or did not: a 404 says that it is gone; another run begins another log. */
  private _learn(): void {
    const { value, failure } = this.job;
    if (this.job.busy) {
      return;
    }
    const gone = isGone(failure);
    if (gone !== this._gone) {
      this._gone = gone;
      this._refresh();
    }
    if (value === null || this._gone) {
      return;
    }
    // A rerun has another number; a job that is resumed goes on with the same one.
    const isAtRest = value.phase === 'paused' || isFinished(value.phase);
    const runs = isAtRest ? value.run : value.run + 0.5;
    if (this._runs !== null && runs > this._runs) {
      void this.logs.choose({ run: null, rank: null }); // it may have fewer
    }
    this._runs = runs;
  }

  /** Ask for what is looked at, and go on asking; of a job that is gone nothing is asked. */
  private _refresh(): void {
    window.clearInterval(this._timer);
    this.logs.show(this._seen && this._tab === 'logs' && !this._gone);
    this._refreshParts();
    if (this._seen && !this._gone && this._tab === 'usage') {
      this._timer = window.setInterval(() => void (this._isActive && this.usage.load()), USAGE_EVERY);
    }
  }

  private _refreshParts(): void {
    const parts: Readonly<Record<Tab, ReadonlyArray<Part<unknown>>>> = {
      overview: [this.events],
      logs: [],
      usage: [this.usage],
      ranks: [this.rankTable, ...this._compared.map(rank => this.env(rank))],
      events: [this.events]
    };
    if (this._seen && !this._gone) {
      parts[this._tab].forEach(part => void part.load());
    }
  }

  private get _isUnlisted(): boolean {
    return this._manager.job(this.id) === undefined && this._manager.link.state === 'live';
  }

  private get _isActive(): boolean {
    const phase = this.job.value?.phase;
    return phase === 'running' || phase === 'starting';
  }

  private _tell(): void {
    this.changed.emit();
  }

  private _checking = 0;
  private _compared: ReadonlyArray<number> = [];
  private readonly _envs = new Map<string, Part<Variables>>();
  private _gone = false;
  private _isMissing = false;
  private _listed: IJob | null = null;
  private _runs: number | null = null;
  private _seen = false;
  private _tab: Tab = 'overview';
  private _timer = 0;
}

/**
 * Whether a listed job may say more than before: it is told of whenever anything of it changes, also what no list has,
 * such as its ranks; or after nobody answered for a while. How far it is, is in the list, and changes often.
 */
function isNews(job: IJob, before: IJob | null): boolean {
  const isFurther = JSON.stringify(job.progress) !== JSON.stringify(before?.progress);
  return job !== before && (known(job) !== known(before) || !isFurther);
}

/** What a listed job says, but for how far it is. */
function known(job: IJob | null): string {
  return JSON.stringify(job, (key, value: unknown) => (key === 'progress' ? undefined : value));
}
