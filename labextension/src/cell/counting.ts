import { Signal } from '@lumino/signaling';

import type { Filling } from '../api';
import { diskFilling } from '../requests';
import type { IJobManager } from '../tokens';

type State =
  | { readonly kind: 'closed' | 'counting' }
  | { readonly kind: 'told'; readonly page: Filling }
  | { readonly kind: 'refused'; readonly error: unknown };

/** Counts, when somebody asks, what takes the room of a disk; given up, it ends on the server too. */
export class Counting {
  constructor(
    private readonly _manager: IJobManager,
    readonly path: string
  ) {}

  readonly changed: Signal<this, void> = new Signal<this, void>(this);

  get state(): State {
    return this._state;
  }

  async count(): Promise<void> {
    const asked = new AbortController();
    this._asked = asked;
    this._tell({ kind: 'counting' });
    try {
      this._tell({ kind: 'told', page: await diskFilling(this._manager, this.path, asked.signal) });
    } catch (error) {
      this._tell(asked.signal.aborted ? { kind: 'closed' } : { kind: 'refused', error });
    }
  }

  giveUp(): void {
    this._asked?.abort();
  }

  private _tell(state: State): void {
    this._state = state;
    this.changed.emit();
  }

  private _asked: AbortController | null = null;
  private _state: State = { kind: 'closed' };
}
