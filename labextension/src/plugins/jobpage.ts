import { ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { WidgetTracker } from '@jupyterlab/apputils';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import type { JobPage } from '../jobpage/page';
import { Commands, IJobManager } from '../tokens';

/** Opens job pages, and opens them again after a reload. Their code is loaded with the first of them. */
export const jobPagePlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-aiarts:jobpage',
  description: 'Shows one AIArts job in the main area.',
  autoStart: true,
  requires: [IJobManager],
  optional: [ITranslator, ILayoutRestorer],
  activate: (
    app: JupyterFrontEnd,
    manager: IJobManager,
    translator: ITranslator | null,
    restorer: ILayoutRestorer | null
  ) => {
    const trans = (translator ?? nullTranslator).load('jupyter_aiarts');
    const tracker = new WidgetTracker<JobPage>({ namespace: 'aiarts-job' });
    app.commands.addCommand(Commands.openJob, {
      label: trans.__('Open the job page'),
      describedBy: { args: { type: 'object', properties: { id: { type: 'string' }, tab: { type: 'string' } } } },
      execute: async args => {
        const { openJob } = await import('../jobpage/open');
        return openJob({ app, manager, trans, tracker }, String(args.id), args.tab);
      }
    });
    void restorer?.restore(tracker, {
      command: Commands.openJob,
      args: ({ model }) => ({ id: model.id, tab: model.tab }),
      name: ({ model }) => model.id
    });
  }
};
