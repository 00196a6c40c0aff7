import type { IJobManager } from '../tokens';

/** Milliseconds for which changes are gathered before one question: jobs come and go in bursts. */
export const SOONEST = 3000;

/**
 * Asks again what fits when that may have become something else: cards were taken or given back, or the server or a
 * cluster is there again. Only while somebody looks; and while nothing changes, nothing is asked.
 */
export class Freshness {
  /** `ask` answers whether anybody was there to be asked; it may ask in vain while a form opens before the server is up. */
  constructor(
    private readonly _manager: IJobManager,
    private readonly _ask: () => Promise<boolean>
  ) {
    _manager.changed.connect(this._hear, this);
  }

  /** Whether somebody looks now; whoever begins to sees what is, not what was when they left. */
  show(seen: boolean): void {
    this._seen = seen;
    if (seen) {
      void this._now();
    }
  }

  dispose(): void {
    this._seen = false;
    window.clearTimeout(this._timer);
    this._manager.changed.disconnect(this._hear, this);
  }

  private _hear(): void {
    if (!this._isLive) {
      this._asked = null;
    } else if (this._seen && this._timer === 0 && this._asked !== this._holders) {
      this._timer = window.setTimeout(() => {
        this._timer = 0;
        if (this._seen && this._isLive) {
          void this._now();
        }
      }, SOONEST);
    }
  }

  private async _now(): Promise<void> {
    window.clearTimeout(this._timer);
    this._timer = 0;
    this._asked = this._isLive ? this._holders : null;
    if (!(await this._ask())) {
      this._asked = null;
    }
  }

  private get _isLive(): boolean {
    return this._manager.link.state === 'live';
  }

  /** Who may hold cards, and which clusters cannot say so, as one text. */
  private get _holders(): string {
    const jobs = this._manager.jobs.filter(({ phase }) => phase === 'running' || phase === 'starting');
    return [...this._manager.away.map(({ name }) => name), ...jobs.map(({ id, run }) => `${id}.${run}`)].join(' ');
  }

  /** What was the picture at the last question; `null` where nobody answered it, or the picture was lost since. */
  private _asked: string | null = null;
  private _seen = false;
  private _timer = 0;
}
