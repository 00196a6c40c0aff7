import { type ISignal, Signal } from '@lumino/signaling';

import type { JobRequest, ShownKernel, ShownQueue, Template } from '../api';
import { kernels, manifestOf, queues, saveTemplate, templates } from '../requests';
import type { IJobManager } from '../tokens';

/** What the lists of a form offer; one that cannot be had is empty, and the form works without it. */
export class Choices {
  constructor(private readonly _manager: IJobManager) {}

  templates: ReadonlyArray<Template> = [];
  queues: ReadonlyArray<ShownQueue> = [];
  /** Names of environments with a Python. */
  environments: ReadonlyArray<string> = [];

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Ask for all lists, the first time or again; one that cannot be had now stays as it was. */
  async learn(): Promise<void> {
    const turn = ++this._turn;
    const or = <T>(list: Promise<T>, known: T): Promise<T> => list.catch(() => known);
    const [saved, known, found] = await Promise.all([
      or(templates(this._manager), this.templates),
      or(queues(this._manager), this.queues),
      or(kernels(this._manager).then(environmentNames), this.environments)
    ]);
    if (turn === this._turn) {
      this.templates = saved;
      this.queues = known;
      this.environments = found;
      this._changed.emit();
    }
  }

  /** Keep a spec under a name, without what is secret in it; raises what the server has against it. */
  async save(name: string, { template: _, secret_env: __, ...spec }: JobRequest): Promise<void> {
    await saveTemplate(this._manager, name, { spec: spec as Template['spec'] });
    this._turn += 1; // an answer from before has not got it
    this.templates = await templates(this._manager);
    this._changed.emit();
  }

  /** What `kubectl apply` makes the same job from: only the server can tell. */
  manifest(spec: JobRequest): Promise<string> {
    return manifestOf(this._manager, spec);
  }

  dispose(): void {
    Signal.clearData(this);
  }

  private readonly _changed = new Signal<this, void>(this);
  /** Answers may come in another order than questions: only the newest counts. */
  private _turn = 0;
}

/** What environments with a Python are called, by their folders where two have one name. */
function environmentNames(found: ReadonlyArray<ShownKernel>): ReadonlyArray<string> {
  const usable = found.filter(({ python, kind }) => python !== null && kind !== 'gone');
  return usable.map(({ name, path }) => (usable.filter(one => one.name === name).length > 1 ? path : name));
}
