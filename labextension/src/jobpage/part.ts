import { Signal } from '@lumino/signaling';

/** Something that is asked of the server: the last answer stays while the next is on its way, or while none comes. */
export class Part<T> {
  constructor(private readonly _ask: () => Promise<T>) {}

  readonly changed: Signal<this, void> = new Signal<this, void>(this);
  /** What the last question failed with; `null` when it was answered. */
  failure: unknown = null;
  busy = false;

  get value(): T | null {
    return this._value;
  }

  /** Ask again. While an answer is awaited, any number of calls become one more question after it. */
  async load(): Promise<void> {
    if (this.busy) {
      this._again = true;
      return;
    }
    do {
      this._again = false;
      this.busy = true;
      this.changed.emit();
      try {
        this._value = await this._ask();
        this.failure = null;
      } catch (error) {
        this.failure = error;
      }
      this.busy = false;
    } while (this._again);
    this.changed.emit();
  }

  /** Ask if nobody has yet. */
  need(): void {
    if (this._value === null && !this.busy) {
      void this.load();
    }
  }

  private _again = false;
  private _value: T | null = null;
}
