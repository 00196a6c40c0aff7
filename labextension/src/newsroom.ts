import type { TranslationBundle } from '@jupyterlab/translation';

import { ended, type INews, nodes, type Troubles, troubles, waits } from './news';
import type { IJobManager } from './tokens';
import type { IJob } from './wire';

/** What the user wants to be told of. */
export interface IWishes {
  readonly ends: boolean;
  /** Minutes that a job may wait before it is told of; 0: as long as it likes. */
  readonly waiting: number;
  /** Whether to tell of nodes that are not well, where the server guards them. */
  readonly nodes: boolean;
}

/**
 * Watches the manager and tells of this user's jobs: what ended, and once of each that waits for long; and of nodes
 * that are not well, to whom the server tells of them.
 * What there is when the page opens is no news.
 */
export class Newsroom {
  constructor(
    private readonly _manager: IJobManager,
    private readonly _trans: TranslationBundle,
    private readonly _tell: (news: INews) => void
  ) {
    _manager.changed.connect(this._look, this);
  }

  wishes: IWishes = { ends: true, waiting: 60, nodes: true };

  dispose(): void {
    window.clearTimeout(this._timer);
    this._manager.changed.disconnect(this._look, this);
  }

  private _look(): void {
    if (this._manager.link.state !== 'live') {
      return;
    }
    const { jobs } = this._manager;
    const mine = jobs.filter(job => this._manager.isMine(job));
    if (this._seen !== null && this.wishes.ends) {
      ended(this._seen, this._looked, mine, this._trans).forEach(this._tell);
    }
    this._lookAtWaiting(mine);
    this._seen = new Map(jobs.map(job => [job.id, job])); // also before the server has said whose they are
    this._looked = this._manager.now();
    this._lookAtNodes();
  }

  /** What is wrong when a cluster first tells of its nodes is no news. */
  private _lookAtNodes(): void {
    const after = troubles(this._manager.clusters, this._trans);
    for (const [cluster, now] of after) {
      const before = this._troubles.get(cluster);
      if (before && this.wishes.nodes) {
        nodes(before, now, this._trans).forEach(this._tell);
      }
      this._troubles.set(cluster, now);
    }
  }

  private _lookAtWaiting(mine: ReadonlyArray<IJob>): void {
    window.clearTimeout(this._timer);
    const queued = mine.filter(job => job.phase === 'queued');
    const patience = this.wishes.waiting * 60_000;
    this._since = new Map(queued.map(job => [job.id, this._since.get(job.id) ?? this._begin(job)]));
    this._told = new Set([...this._told].filter(id => this._since.has(id)));
    if (!patience) {
      return;
    }
    let soonest = Infinity;
    const now = this._manager.now();
    for (const job of queued.filter(({ id }) => !this._told.has(id))) {
      const waited = now - (this._since.get(job.id) ?? now);
      if (waited >= patience) {
        this._told.add(job.id);
        this._tell(waits(job, Math.round(waited / 60_000), this._trans));
      } else {
        soonest = Math.min(soonest, patience - waited);
      }
    }
    if (soonest < Infinity) {
      this._timer = window.setTimeout(() => this._look(), Math.min(soonest + 50, 0x7fffffff));
    }
  }

  /**
   * A job waits since it was made, by the server's clock, if this is its first wait; one that is queued again, since now.
   * When the later wait began is not told, so nothing is said of a wait that nobody has seen.
   */
  private _begin(job: IJob): number {
    const last = this._seen?.get(job.id);
    const isFirst = job.run === 1 && job.started === null && (last === undefined || last.phase === 'queued');
    return isFirst && !this._ever.has(job.id) ? (this._ever.add(job.id), Date.parse(job.created)) : this._manager.now();
  }

  private _ever = new Set<string>();
  private _looked = 0;
  private _seen: ReadonlyMap<string, IJob> | null = null;
  private _since = new Map<string, number>();
  private _told = new Set<string>();
  private _troubles = new Map<string, Troubles>();
  private _timer = 0;
}
