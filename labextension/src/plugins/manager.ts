import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ITranslator } from '@jupyterlab/translation';

import { JobManager } from '../manager';
import { AiartsServer } from '../server';
import { IJobManager } from '../tokens';

/** Milliseconds after which nobody waits any more for JupyterLab to be restored. */
const LONGEST_START = 5000;

/** Provides the live picture of all jobs. */
export const managerPlugin: JupyterFrontEndPlugin<IJobManager> = {
  id: 'jupyter-aiarts:manager',
  description: 'Keeps the live picture of all AIArts jobs.',
  autoStart: true,
  provides: IJobManager,
  optional: [ITranslator],
  activate: (app: JupyterFrontEnd, translator: ITranslator | null) => {
    const lang = translator?.languageCode.startsWith('zh') ? 'zh' : 'en';
    // Some layouts take long to come back, and jobs are not to wait for that.
    const ready = Promise.race([app.restored, new Promise(resolve => setTimeout(resolve, LONGEST_START))]);
    const manager = new JobManager(new AiartsServer(app.serviceManager.serverSettings, lang), ready);
    window.addEventListener('pagehide', event => event.persisted || manager.dispose());
    return manager;
  }
};
