import { ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { JobsPanel } from '../panel';
import { IJobManager } from '../tokens';

const ID = 'jupyter-aiarts:panel';

/** Puts the jobs into the left sidebar. */
export const panelPlugin: JupyterFrontEndPlugin<void> = {
  id: ID,
  description: 'Shows AIArts jobs in the sidebar.',
  autoStart: true,
  requires: [IJobManager],
  optional: [ITranslator, ILayoutRestorer, ISettingRegistry],
  activate: (
    app: JupyterFrontEnd,
    manager: IJobManager,
    translator: ITranslator | null,
    restorer: ILayoutRestorer | null,
    settings: ISettingRegistry | null
  ) => {
    const trans = (translator ?? nullTranslator).load('jupyter_aiarts');
    const panel = new JobsPanel(manager, trans);
    app.shell.add(panel, 'left', { rank: 600, type: 'AIArts' });
    restorer?.add(panel, panel.id);
    void settings?.load(ID).then(loaded => panel.follow(loaded));
  }
};
