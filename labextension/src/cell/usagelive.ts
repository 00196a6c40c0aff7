import type { IDisposable } from '@lumino/disposable';

import { usagePage } from '../requests';

import { History, SECONDS, valuesOf } from './history';
import { Live } from './live';
import { readUsage, type IUsage } from './reading';

/** Seconds without a look after which the numbers are called old. */
const OLD = 10;

/** What this machine is doing: one for the page, however many panels show it. */
export class UsageLive extends Live {
  readonly history = new History();
  usage: IUsage | null = null;

  /** Whether the newest look is so old that it must be said. */
  get isOld(): boolean {
    return this.usage !== null && (this.trouble !== null || Date.now() - this._heard > OLD * 1000);
  }

  /** Called by each panel that is seen; the first starts it. */
  override watch(): void {
    this._viewers += 1;
    if (this._viewers === 1) {
      this.manager.usageChanged.connect(this._see, this);
      this._watching = this.manager.watchUsage();
      super.watch();
    }
  }

  /** Called by each panel that is not seen any more; the last ends it. */
  override rest(): void {
    this._viewers = Math.max(0, this._viewers - 1);
    if (this._viewers === 0) {
      this.manager.usageChanged.disconnect(this._see, this);
      this._watching?.dispose();
      this._watching = null;
      super.rest();
    }
  }

  /** What was seen before, asked for once; the looks that follow come on the stream. */
  protected override async ask(): Promise<null> {
    const usage = readUsage(await usagePage(this.manager, SECONDS));
    if (usage.history !== null) {
      this.history.begin(usage.history);
    }
    this._take(usage);
    return null;
  }

  private _see(): void {
    if (this.manager.usage !== null) {
      this._take(readUsage(this.manager.usage));
      this.changed.emit();
    }
  }

  private _take(usage: IUsage): void {
    this._heard = Date.now();
    this.usage = usage;
    this.history.add(usage.at, valuesOf(usage));
  }

  /** After a gap in the stream there is a gap in the lines: ask for all of it again. */
  protected override hear(): void {
    const isLive = this.manager.link.state === 'live';
    if (isLive && !this._wasLive) {
      this.rounds.soon();
    }
    this._wasLive = isLive;
  }

  private _heard = 0;
  private _viewers = 0;
  private _wasLive = true;
  private _watching: IDisposable | null = null;
}
