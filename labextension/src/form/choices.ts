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

  async learn(): Promise<void> {
    const orNone = <T>(list: Promise<ReadonlyArray<T>>): Promise<ReadonlyArray<T>> => list.catch(() => []);
    const [saved, known, found] = await Promise.all([
      orNone(templates(this._manager)),
      orNone(queues(this._manager)),
      orNone(kernels(this._manager))
    ]);
    this.templates = saved;
    this.queues = known;
    this.environments = environmentNames(found);
    this._changed.emit();
  }

  /** Keep a spec under a name, without what is secret in it; raises what the server has against it. */
  async save(name: string, { template: _, secret_env: __, ...spec }: JobRequest): Promise<void> {
    await saveTemplate(this._manager, name, { spec: spec as Template['spec'] });
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
}

/** What environments with a Python are called, by their folders where two have one name. */
function environmentNames(found: ReadonlyArray<ShownKernel>): ReadonlyArray<string> {
  const usable = found.filter(({ python, kind }) => python !== null && kind !== 'gone');
  return usable.map(({ name, path }) => (usable.filter(one => one.name === name).length > 1 ? path : name));
}
