import { Broken } from '../errors';
import { retryDelay } from '../manager';
import type { ILogLine } from './line';

/** Waits until the page draws next; a test passes its own. */
export type Frame = () => Promise<void>;

export const nextFrame: Frame = () => new Promise(resolve => requestAnimationFrame(() => resolve()));

/** Milliseconds without a frame after which the browser's tab must have been asleep. */
const ASLEEP = 10_000;

/** Milliseconds after which a stream that breaks off was merely quiet: proxies end what says nothing for a minute. */
const LONG = 10_000;

/** What a stream has to say. */
export interface IListener {
  /** Somebody is there, whether or not lines come. */
  answered(): void;
  came(lines: ReadonlyArray<ILogLine>): void;
  /** Lines came while the tab was asleep; answers whether they, and what is behind them, are not wanted. */
  slept(): boolean;
  broke(error: unknown): void;
  ended(): void;
}

/**
 * A log's end as it grows: one stream at a time, its lines once per drawn frame, again and again where it breaks.
 * Between frames nothing is read, so what is not drawn yet waits in the server's files. Held by `LogModel`.
 */
export class Tail {
  constructor(
    private readonly _open: (signal: AbortSignal) => AsyncIterable<ReadonlyArray<ILogLine>>,
    private readonly _frame: Frame,
    private readonly _listener: IListener
  ) {}

  /** Whether lines are waited for. */
  get isOpen(): boolean {
    return this._stream !== null;
  }

  /** Follow, unless it already does. */
  start(): void {
    if (this._stream === null) {
      this._stream = new AbortController();
      void this._run(this._stream.signal);
    }
  }

  stop(): void {
    this._stream?.abort();
    this._stream = null;
  }

  private async _run(signal: AbortSignal): Promise<void> {
    for (let attempt = 0; !signal.aborted; attempt++) {
      let answered = Infinity;
      try {
        for await (const lines of this._open(signal)) {
          if (lines.length > 0) {
            await this._pass(lines, signal);
            attempt = 0; // an answer alone does not count: whoever breaks off after it is asked less and less
          } else if (!signal.aborted) {
            answered = Date.now();
            this._listener.answered();
          }
        }
        if (!signal.aborted) {
          this._stream = null;
          this._listener.ended();
        }
        return;
      } catch (error) {
        if (signal.aborted) {
          return;
        }
        if (error instanceof Broken && Date.now() - answered > LONG) {
          attempt = 0; // no news to anybody: whether the server is away, the next question finds
        } else {
          this._listener.broke(error);
        }
        await new Promise(resolve => setTimeout(resolve, retryDelay(attempt)));
      }
    }
  }

  private async _pass(lines: ReadonlyArray<ILogLine>, signal: AbortSignal): Promise<void> {
    const before = Date.now();
    await this._frame();
    const isAsleep = Date.now() - before > ASLEEP;
    if (!signal.aborted && !(isAsleep && this._listener.slept())) {
      this._listener.came(lines);
    }
  }

  private _stream: AbortController | null = null;
}
