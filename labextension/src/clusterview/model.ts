import { Signal } from '@lumino/signaling';

import type { ClusterPage, ShownQueue } from '../api';
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

/** The machines as one page shows them; asked for again when jobs change, and only while somebody looks. */
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
  }

  readonly changed: Signal<this, void> = new Signal<this, void>(this);
  readonly snapshot: Part<ISnapshot>;

  /** The name of a job, where this user's picture has it. */
  jobName(id: string | null): string | null {
    return (id === null ? undefined : this._manager.job(id)?.name) ?? null;
  }

  show(seen: boolean): void {
    this._seen = seen;
    if (seen) {
      void this.snapshot.load();
    }
  }

  dispose(): void {
    window.clearTimeout(this._timer);
    Signal.disconnectReceiver(this);
    Signal.clearData(this);
  }

  private _hear(): void {
    if (this._seen && this._timer === 0) {
      this._timer = window.setTimeout(() => {
        this._timer = 0;
        if (this._seen) {
          void this.snapshot.load();
        }
      }, SOONEST);
    }
  }

  private _seen = false;
  private _timer = 0;
}
