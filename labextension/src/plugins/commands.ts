import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { PANEL_ID } from '../tokens';

const SHOW_JOBS = 'jupyter-aiarts:show-jobs';

/** Opens the sidebar by command, palette or a shortcut the user sets. */
export const commandsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-aiarts:commands',
  description: 'Commands of AIArts.',
  autoStart: true,
  optional: [ITranslator, ICommandPalette],
  activate: (app: JupyterFrontEnd, translator: ITranslator | null, palette: ICommandPalette | null) => {
    const trans = (translator ?? nullTranslator).load('jupyter_aiarts');
    app.commands.addCommand(SHOW_JOBS, {
      label: trans.__('Show AIArts jobs'),
      execute: () => app.shell.activateById(PANEL_ID)
    });
    palette?.addItem({ command: SHOW_JOBS, category: 'AIArts' });
  }
};
