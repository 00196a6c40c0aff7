import { Dialog, showDialog } from '@jupyterlab/apputils';
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';

import { copyOrShow } from './copying';
import type { IQuestion, IRoom } from './moving';
import { linesBody, toast } from './toasts';
import { Commands } from './tokens';
import type { IJob } from './wire';

/** Dialogs and notifications of JupyterLab; made by the panel plugin. */
export class LabRoom implements IRoom {
  constructor(
    private readonly _commands: CommandRegistry,
    private readonly _trans: TranslationBundle
  ) {}

  asksOften = true;

  /** Obey the user's settings; called by the panel plugin. */
  follow(settings: ISettingRegistry.ISettings): void {
    const read = (): void => {
      this.asksOften = settings.get('confirmations').composite !== false;
    };
    settings.changed.connect(read);
    read();
  }

  async ask({ title, lines, accept, isDanger }: IQuestion): Promise<boolean> {
    const yes = (isDanger ? Dialog.warnButton : Dialog.okButton)({ label: accept });
    const no = Dialog.cancelButton({ label: this._trans.__('Cancel') });
    const { button } = await showDialog({ title, body: linesBody(lines), buttons: [no, yes] });
    return button.accept;
  }

  tell(text: string, kind: 'success' | 'error' | 'warning'): void {
    toast(text, kind, this._trans);
  }

  copy(text: string): void {
    void copyOrShow(text, this._trans).then(isCopied => isCopied && this.tell(this._trans.__('Copied'), 'success'));
  }

  form(job: IJob, how: 'clone' | 'edit'): void {
    void this._commands.execute(Commands.newJob, { id: job.id, how });
  }
}
