import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { IFileBrowserFactory } from '@jupyterlab/filebrowser';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { jobsIcon } from '../icons';
import { isSaved, type Open } from '../saving';
import { Commands } from '../tokens';

/** Files from which a job can start; others can still be named in the form. */
const STARTS = /\.(py|sh|ipynb)$/i;

/** Submit what is chosen in the file browser, or the notebook that is open; the settings' schema has the places. */
export const filesPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-aiarts:files',
  description: 'Submits scripts and notebooks from where they are.',
  autoStart: true,
  optional: [ITranslator, IFileBrowserFactory, IDocumentManager],
  activate: (
    { commands, serviceManager: { contents }, shell }: JupyterFrontEnd,
    translator: ITranslator | null,
    browsers: IFileBrowserFactory | null,
    documents: IDocumentManager | null
  ) => {
    const trans = (translator ?? nullTranslator).load('jupyter_aiarts');
    const label = trans.__('Submit as AIArts job…');
    const chosen = (): string => [...(browsers?.tracker.currentWidget?.selectedItems() ?? [])][0]?.path ?? '';
    const opened = (): Open | undefined => shell.currentWidget ? documents?.contextForWidget(shell.currentWidget) : undefined;
    const submit = async (path: string, context?: Open): Promise<unknown> =>
      (await isSaved(context, trans)) && commands.execute(Commands.newJob, { script: contents.localPath(path) });
    commands.addCommand('jupyter-aiarts:submit-file', {
      ...{ label, icon: jobsIcon, isVisible: () => STARTS.test(chosen()) },
      execute: () => submit(chosen(), documents?.findWidget(chosen(), null)?.context)
    });
    commands.addCommand('jupyter-aiarts:submit-notebook', {
      ...{ label: args => (args.toolbar ? '' : label), caption: label, icon: jobsIcon },
      ...{ isEnabled: () => Boolean(opened()?.path), execute: () => submit(opened()?.path ?? '', opened()) }
    });
  }
};
