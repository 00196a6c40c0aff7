import type { TranslationBundle } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';

import { size } from './amounts';
import type { ShownKernel } from './api';
import { errorText, isAbort } from './errors';
import { repairKernel } from './repairing';
import { examineKernel, kernelSize, kernels, registerKernel, unregisterKernel } from './requests';
import type { IJobManager } from './tokens';

/** Milliseconds after which a section that is still open asks again: the server tells of news for a minute. */
const PERIOD = 45_000;

export type Scope = 'global' | 'user';

/** As much of an environment as names it. */
type Named = Pick<ShownKernel, 'name' | 'path'>;

/** What is being done for one environment; `cancel` where it can be given up. */
export interface IWork {
  readonly text: string;
  readonly cancel?: () => void;
}

/** The environments of this machine, and what is done for them; asked for while somebody looks, and not before. */
export class KernelModel {
  constructor(
    private readonly _manager: IJobManager,
    private readonly _trans: TranslationBundle
  ) {}

  readonly changed: Signal<this, void> = new Signal<this, void>(this);
  /** `null` until it is known. */
  found: ReadonlyArray<ShownKernel> | null = null;
  /** What came of the last deed, or why there is nothing. */
  said = '';

  /** As their own Python tells where it was asked, else by their files. */
  get shown(): ReadonlyArray<ShownKernel> {
    return this.found?.map(kernel => this._examined.get(kernel.path)?.closely ?? kernel) ?? [];
  }

  workOf(path: string): IWork | undefined {
    return this._works.get(path);
  }

  /** Whether somebody looks. */
  watch(on: boolean): void {
    window.clearInterval(this._timer);
    this._manager.kernelsChanged.disconnect(this._look, this);
    if (on) {
      this._manager.kernelsChanged.connect(this._look, this);
      this._timer = window.setInterval(() => !document.hidden && this._look(), PERIOD);
      this._look();
    }
  }

  /** Answers whether it was done. */
  register(kernel: Named, scope: Scope): Promise<boolean> {
    return this._work(kernel, { text: this._trans.__('Making a kernel of %1…', kernel.name) }, async () => {
      await registerKernel(this._manager, kernel.path, scope);
      return this._trans.__('%1 is a kernel now; the launcher has it.', kernel.name);
    });
  }

  async unregister(kernel: ShownKernel): Promise<void> {
    await this._work(kernel, { text: this._trans.__('Removing the kernel…') }, async () => {
      await unregisterKernel(this._manager, nameOf(kernel));
      return this._trans.__('%1 is no kernel any more; the environment itself is as it was.', kernel.name);
    });
  }

  async repair(kernel: ShownKernel): Promise<void> {
    const { cancel, signal } = stoppable();
    const progress = (text: string): void => this._tellWork(kernel, { text, cancel });
    await this._work(kernel, { text: this._trans.__('Repairing %1…', kernel.name), cancel }, async () => {
      await repairKernel(this._manager, nameOf(kernel), signal, progress);
      return this._trans.__('%1 is repaired.', kernel.name);
    });
  }

  /** Have its own Python say what is wrong with it. */
  async examine(kernel: ShownKernel): Promise<void> {
    await this._work(kernel, { text: this._trans.__('Asking its own Python…') }, async () => {
      const closely = await examineKernel(this._manager, kernel.spec ?? kernel.path);
      this._examined.set(kernel.path, { closely, seen: this._seen(kernel.path) });
      if (closely.problems?.length) {
        return this._trans.__('%1: %2', kernel.name, closely.problems.map(({ title }) => title).join(' '));
      }
      return closely.kernels?.length
        ? this._trans.__('Nothing is wrong with %1: the programs of its own kernels are there; they were not started.', kernel.name)
        : this._trans.__('Nothing is wrong with %1: its Python starts and has all that a kernel needs.', kernel.name);
    });
  }

  async measure(kernel: ShownKernel): Promise<void> {
    const { cancel, signal } = stoppable();
    await this._work(kernel, { text: this._trans.__('Looking at all its files…'), cancel }, async () => {
      const { bytes, files, complete } = await kernelSize(this._manager, kernel.path, signal);
      return complete
        ? this._trans.__('%1 takes %2 in %3 files.', kernel.name, size(bytes), files)
        : this._trans.__('%1 takes more than %2: there are more than %3 files, and not all were looked at.', kernel.name, size(bytes), files);
    });
  }

  dispose(): void {
    this.watch(false);
    Signal.clearData(this);
  }

  private _look(): void {
    void this._load();
  }

  private async _load(): Promise<void> {
    try {
      this.found = await kernels(this._manager);
      this._examined.forEach(({ seen }, path) => seen === this._seen(path) || this._examined.delete(path));
    } catch (error) {
      this.said = errorText(error, this._trans);
    }
    this.changed.emit();
  }

  /** What the list says of an environment, to tell whether it says something else later. */
  private _seen(path: string): string {
    return JSON.stringify(this.found?.filter(kernel => kernel.path === path) ?? []);
  }

  /** Do something for one environment, and tell what came of it: whether it was done. */
  private async _work(kernel: Named, first: IWork, deed: () => Promise<string>): Promise<boolean> {
    let isDone = true;
    this.said = '';
    this._examined.delete(kernel.path);
    this._tellWork(kernel, first);
    try {
      this.said = await deed();
    } catch (error) {
      isDone = false;
      this.said = isAbort(error) ? this._trans.__('%1: given up.', kernel.name) : errorText(error, this._trans);
    }
    this._works.delete(kernel.path);
    await this._load();
    return isDone;
  }

  private _tellWork(kernel: Named, work: IWork): void {
    this._works.set(kernel.path, work);
    this.changed.emit();
  }

  /** What its own Python told, until the list says something else of it than it did then. */
  private readonly _examined = new Map<string, { readonly closely: ShownKernel; readonly seen: string }>();
  private _timer = 0;
  private readonly _works = new Map<string, IWork>();
}

/** Whether it is a kernel whose environment is gone, may not be seen, or is not one any more. */
export function isLeft({ kind }: ShownKernel): boolean {
  return kind === 'gone' || kind === 'hidden' || kind === 'unmarked';
}

/** What the server knows it by: a kernel without its environment by its own name. */
function nameOf(kernel: ShownKernel): string {
  return isLeft(kernel) ? (kernel.spec ?? kernel.path) : kernel.path;
}

/** What can be given up: the button, and what it ends. */
function stoppable(): { readonly cancel: () => void; readonly signal: AbortSignal } {
  const giveUp = new AbortController();
  return { cancel: () => giveUp.abort(), signal: giveUp.signal };
}
