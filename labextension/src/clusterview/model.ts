import { Signal } from '@lumino/signaling';

import type { ClusterPage, ShownQueue } from '../api';
import { Rounds } from '../cell/rounds';
import { Part } from '../jobpage/part';
import { clusterPage, queues } from '../requests';
import type { IJobManager } from '../tokens';

/** Both answers of one moment: a page is drawn from one picture, never from two. */
export interface ISnapshot {
  readonly page: ClusterPage;
  readonly queues: ReadonlyArray<ShownQueue>;
}

/** At most so often is the picture asked for while jobs come and go. */
const SOONEST = 3000;

/** Milliseconds between looks: cards are also taken and given back by what is no job of ours. */
const EVERY = 10_000;

/** The machines as one page shows them; asked for again and again, sooner when jobs change, while somebody looks. */
export class ClusterModel {
  constructor(
    private readonly _manager: IJobManager,
    /** Opens a job's page. */
    readonly open: (id: string) => void
  ) {
    this.snapshot = new Part(async () => {
      const [page, lines] = await Promise.all([clusterPage(_manager), queues(_manager)]);
      return { page, queues: lines };
    });
    this.snapshot.changed.connect(() => this.changed.emit());
    _manager.changed.connect(this._hear, this);
    document.addEventListener('visibilitychange', this._look);
  }

  readonly changed: Signal<this, void> = new Signal<this, void>(this);
  readonly snapshot: Part<ISnapshot>;

  /** The name of a job, where this user's picture has it. */
  jobName(id: string | null): string | null {
    return (id === null ? undefined : this._manager.job(id)?.name) ?? null;
  }

  show(seen: boolean): void {
    this._seen = seen;
    this._look();
  }

  dispose(): void {
    document.removeEventListener('visibilitychange', this._look);
    this._rounds.stop();
    Signal.disconnectReceiver(this);
    Signal.clearData(this);
  }

  private _hear(): void {
    this._rounds.soon(SOONEST);
  }

  /** The page, or the browser's tab with it, is shown or hidden. */
  private readonly _look = (): void => {
    if (this._seen && document.visibilityState !== 'hidden') {
      this._rounds.start();
    } else {
      this._rounds.stop();
    }
  };

  private readonly _rounds = new Rounds(async () => {
    await this.snapshot.load();
    return EVERY;
  });
  private _seen = false;
}
