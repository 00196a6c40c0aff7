import { type ISignal, Signal } from '@lumino/signaling';

import type { ClusterPage, DryRun, JobRequest } from '../api';
import { isAbort, isNobody } from '../errors';
import { Part } from '../jobpage/part';
import { clusterPage, tryOut } from '../requests';
import type { IJobManager } from '../tokens';

/** Milliseconds of rest after which what was typed is tried out. */
export const REST = 350;

/** What the server says of a spec that is being written: tried out while typing, one question at a time. */
export class Trial {
  constructor(private readonly _manager: IJobManager) {
    this._cluster = new Part(() => clusterPage(_manager));
  }

  /** `asking`: what is shown is about an earlier text. */
  state: 'idle' | 'asking' | 'answered' | 'refused' = 'idle';
  /** The last answer, kept while the next is awaited: defaults do not flicker. */
  answer: DryRun | null = null;
  error: unknown = null;
  /** What the server takes for a job that says next to nothing, until there is an answer; `null` where that is unknown. */
  defaults: DryRun['spec'] | null = null;

  /** What is free now, of all clusters; `null` until known. */
  get cluster(): ClusterPage | null {
    return this._cluster.value;
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Try this spec when the hands rest; an earlier question is given up. */
  consider(spec: JobRequest): void {
    this.forget();
    this.state = 'asking';
    this._timer = window.setTimeout(() => void this._ask(spec), REST);
    this._changed.emit();
  }

  /** What was said of this spec may not hold any more; it stands until there is another answer. */
  async again(spec: JobRequest): Promise<void> {
    if (this.state === 'answered' || this.state === 'refused') {
      await this._ask(spec);
    }
  }

  /** Nothing to try yet. */
  rest(): void {
    this.forget();
    this.state = 'idle';
    this.error = null;
    this._changed.emit();
  }

  /** Give up what is being asked. */
  forget(): void {
    window.clearTimeout(this._timer);
    this._asking?.abort();
    this._asking = null;
  }

  /** Look at what is free, and say whether anybody was there; that it cannot be seen is no reason to stop writing. */
  async look(): Promise<boolean> {
    await this._cluster.load();
    const { failure } = this._cluster;
    if (failure !== null) {
      console.warn('jupyter-aiarts: what fits now is unknown', failure);
    }
    this._changed.emit();
    return !isNobody(failure);
  }

  /** Ask for the defaults, so that they stand in an empty form; a cluster that wants more than a command has none. */
  async learn(cluster = ''): Promise<void> {
    try {
      const { spec } = await tryOut(this._manager, { command: 'true', ...(cluster ? { cluster } : {}) });
      this.defaults = spec;
      this._changed.emit();
    } catch (error) {
      console.debug('jupyter-aiarts: the defaults of a new job are unknown', error);
    }
  }

  dispose(): void {
    this.forget();
    Signal.clearData(this);
  }

  private async _ask(spec: JobRequest): Promise<void> {
    this._asking?.abort();
    const asking = new AbortController();
    this._asking = asking;
    try {
      const answer = await tryOut(this._manager, spec, asking.signal);
      if (this._asking === asking) {
        this.answer = answer;
        this.error = null;
        this.state = 'answered';
        this._changed.emit();
      }
    } catch (error) {
      if (this._asking === asking && !isAbort(error)) {
        this.error = error;
        this.state = 'refused';
        this._changed.emit();
      }
    }
  }

  private _asking: AbortController | null = null;
  private readonly _changed = new Signal<this, void>(this);
  private readonly _cluster: Part<ClusterPage>;
  private _timer = 0;
}
