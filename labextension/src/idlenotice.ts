import { Notification } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import { type Idle, idleText, type INotice } from './idle';
import { Commands } from './tokens';
import type { IIdleKernel } from './wire';

/** The notice about idle cards as one of JupyterLab's notifications. It stays until somebody or the cards move. */
export class IdleNotice implements INotice {
  constructor(
    private readonly _commands: CommandRegistry,
    private readonly _trans: TranslationBundle
  ) {}

  /** Both set by the idle plugin. */
  onSnooze: () => void = () => undefined;
  onRelease: (kernels: ReadonlyArray<IIdleKernel>) => void = () => undefined;

  show(idle: ReadonlyArray<Idle>): void {
    if (!this.change(idle)) {
      this._id = Notification.info(idleText(idle, this._trans), { actions: this._actions(idle), autoClose: false });
    }
  }

  change(idle: ReadonlyArray<Idle>): boolean {
    const message = idleText(idle, this._trans);
    return (
      this._id !== null &&
      Notification.update({ id: this._id, message, actions: this._actions(idle), autoClose: false })
    );
  }

  hide(): void {
    if (this._id !== null) {
      Notification.dismiss(this._id);
      this._id = null;
    }
  }

  /** Cards are given back by ending what holds them, which asks first; many can be looked at before. */
  private _actions(idle: ReadonlyArray<Idle>): Notification.IAction[] {
    const kernels = idle.filter(one => one.isKernel === true);
    const ids = idle.filter(({ isKernel }) => !isKernel).map(({ id }) => id);
    const actions: Notification.IAction[] = [];
    if (ids.length > 0) {
      const label = ids.length === 1 ? this._trans.__('Stop job') : this._trans.__('Stop jobs');
      actions.push({ label, callback: () => this._run(Commands.act, { move: 'stop', ids }) });
    }
    if (kernels.length > 0) {
      actions.push({ label: this._trans.__('Release cards'), callback: () => this.onRelease(kernels) });
    }
    if (ids.length > 1) {
      actions.push({ label: this._trans.__('Show jobs'), callback: () => this._run(Commands.showJobs) });
    }
    return [...actions, { label: this._trans.__('Snooze an hour'), callback: () => this.onSnooze() }];
  }

  private _run(command: string, args: ReadonlyPartialJSONObject = {}): void {
    void this._commands.execute(command, args);
  }

  private _id: string | null = null;
}
