import { ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { WidgetTracker } from '@jupyterlab/apputils';
import { ILauncher } from '@jupyterlab/launcher';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { argsOf, type FormPage, FormOpener } from '../form/opening';
import { Commands, IJobManager } from '../tokens';

const ID = 'jupyter-aiarts:form';

/** The form that submits jobs, opened by command, launcher and palette, and there again after a reload. */
export const formPlugin: JupyterFrontEndPlugin<void> = {
  id: ID,
  description: 'The form that submits AIArts jobs.',
  autoStart: true,
  requires: [IJobManager],
  optional: [ITranslator, ILayoutRestorer, ISettingRegistry, ILauncher],
  activate: (
    app: JupyterFrontEnd,
    manager: IJobManager,
    translator: ITranslator | null,
    restorer: ILayoutRestorer | null,
    settings: ISettingRegistry | null,
    launcher: ILauncher | null
  ) => {
    const trans = (translator ?? nullTranslator).load('jupyter_aiarts');
    const tracker = new WidgetTracker<FormPage>({ namespace: 'jupyter-aiarts-form' });
    const opener = new FormOpener(app, manager, trans, tracker);
    opener.addCommand();
    void restorer?.restore(tracker, { command: Commands.newJob, args: argsOf, name: page => page.content.id });
    launcher?.add({ command: Commands.newJob, args: { isLauncher: true }, category: 'AIArts', rank: 1 });
    void settings?.load(ID).then(loaded => opener.follow(loaded));
  }
};
