import { Signal } from '@lumino/signaling';

import { ApiError, Foreign, isGone, Unanswered } from '../errors';
import type { IJobManager } from '../tokens';

import { Rounds } from './rounds';

/** Milliseconds before asking again a server that did not answer. */
const AFTER_TROUBLE = 5000;

/**
 * What one panel shows: asked for while it is seen, kept while it is not. Views draw it and subscribe to `changed`;
 * the output's widget calls `watch` and `rest`.
 */
export abstract class Live {
  constructor(protected readonly manager: IJobManager) {}

  readonly changed: Signal<Live, void> = new Signal<Live, void>(this);

  /** Why what is shown may be old, or is not there; `null` when the last question was answered. */
  trouble: Error | null = null;

  watch(): void {
    this.manager.changed.connect(this.hear, this);
    this.rounds.start();
  }

  rest(): void {
    this.manager.changed.disconnect(this.hear, this);
    this.rounds.stop();
  }

  dispose(): void {
    this.rest();
    Signal.clearData(this);
  }

  /** Ask for everything that may be old; answers with the milliseconds until the next time, `null` for none. */
  protected abstract ask(): Promise<number | null>;

  /** The manager has news, while the panel is seen. */
  protected abstract hear(): void;

  protected readonly rounds = new Rounds(async () => {
    let next: number | null;
    try {
      next = await this.ask();
      this.trouble = null;
    } catch (error) {
      if (!(error instanceof ApiError || error instanceof Unanswered || error instanceof Foreign)) {
        throw error;
      }
      this.trouble = error;
      next = isGone(error) ? null : AFTER_TROUBLE;
    }
    this.changed.emit();
    return next;
  });
}
