import { ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, WidgetTracker } from '@jupyterlab/apputils';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import type { ClusterPage } from '../clusterview/page';
import { addPage, showPage } from '../pagearea';
import { Commands, IJobManager } from '../tokens';

/** Opens the cluster's page, once, and again after a reload. Its code is loaded then. */
export const clusterViewPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-aiarts:clusterview',
  description: 'Shows the nodes and cards behind AIArts jobs.',
  autoStart: true,
  requires: [IJobManager],
  optional: [ITranslator, ILayoutRestorer, ICommandPalette],
  activate: (
    app: JupyterFrontEnd,
    manager: IJobManager,
    translator: ITranslator | null,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null
  ) => {
    const trans = (translator ?? nullTranslator).load('jupyter_aiarts');
    const tracker = new WidgetTracker<ClusterPage>({ namespace: 'aiarts-cluster' });
    const execute = async (): Promise<void> => {
      const { ClusterPage: Made } = await import('../clusterview/page');
      const openJob = (id: string): void => void app.commands.execute(Commands.openJob, { id });
      let page = tracker.find(() => true); // the current one is known only after it was added
      if (page === undefined) {
        page = new Made(manager, trans, openJob);
        await tracker.add(page);
        addPage(app, page, 'AIArts cluster');
      }
      showPage(app, page);
    };
    app.commands.addCommand(Commands.openCluster, { label: trans.__('Show the AIArts cluster'), execute });
    palette?.addItem({ command: Commands.openCluster, category: 'AIArts' });
    void restorer?.restore(tracker, { command: Commands.openCluster, name: () => 'cluster' });
  }
};
