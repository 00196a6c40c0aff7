import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { MOVES } from '../moving';
import { Commands, PANEL_ID } from '../tokens';

/** What can be done from the palette, or by a shortcut the user sets. */
export const commandsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-aiarts:commands',
  description: 'Commands of AIArts.',
  autoStart: true,
  optional: [ITranslator, ICommandPalette],
  activate: (app: JupyterFrontEnd, translator: ITranslator | null, palette: ICommandPalette | null) => {
    const trans = (translator ?? nullTranslator).load('jupyter_aiarts');
    app.commands.addCommand(Commands.showJobs, {
      label: trans.__('Show AIArts jobs'),
      execute: () => app.shell.activateById(PANEL_ID)
    });
    [Commands.showJobs, Commands.newJob, Commands.demo, Commands.guide].forEach(command => palette?.addItem({ command, category: 'AIArts' }));
    MOVES.forEach(move => palette?.addItem({ command: Commands.act, args: { move }, category: 'AIArts' }));
  }
};
