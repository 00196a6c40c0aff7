/**
 * Asks again and again while somebody looks: never twice at once, and not at all while nobody does.
 */
export class Rounds {
  /** `ask` answers with the milliseconds until the next time, or `null` to wait until `soon` is called. */
  constructor(private readonly _ask: () => Promise<number | null>) {}

  start(): void {
    if (!this._on) {
      this._on = true;
      void this._go();
    }
  }

  stop(): void {
    this._on = false;
    this._again = false;
    window.clearTimeout(this._timer);
    this._timer = 0;
  }

  /** Ask within `delay` milliseconds; calls that come before that are one. */
  soon(delay = 300): void {
    if (!this._on) {
      return;
    }
    if (this._asking) {
      this._again = true;
      return;
    }
    if (this._due !== null && this._due <= Date.now() + delay) {
      return;
    }
    this._wait(delay);
  }

  private async _go(): Promise<void> {
    this._due = null;
    if (this._asking) {
      this._again = true; // started anew while an old question is still on its way
      return;
    }
    this._asking = true;
    let next: number | null;
    try {
      next = await this._ask();
    } finally {
      this._asking = false;
    }
    const wait = this._again ? Math.min(next ?? 300, 300) : next;
    this._again = false;
    if (this._on && wait !== null) {
      this._wait(wait);
    }
  }

  private _wait(delay: number): void {
    window.clearTimeout(this._timer);
    this._due = Date.now() + delay;
    this._timer = window.setTimeout(() => void this._go(), delay);
  }

  private _again = false;
  private _asking = false;
  private _due: number | null = null;
  private _on = false;
  private _timer = 0;
}
