import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ITranslator } from '@jupyterlab/translation';

import { JobManager } from '../manager';
import { AiartsServer } from '../server';
import { IJobManager } from '../tokens';

/** Provides the live picture of all jobs. */
export const managerPlugin: JupyterFrontEndPlugin<IJobManager> = {
  id: 'jupyter-aiarts:manager',
  description: 'Keeps the live picture of all AIArts jobs.',
  autoStart: true,
  provides: IJobManager,
  optional: [ITranslator],
  activate: (app: JupyterFrontEnd, translator: ITranslator | null) => {
    const lang = translator?.languageCode.startsWith('zh') ? 'zh' : 'en';
    const manager = new JobManager(new AiartsServer(app.serviceManager.serverSettings, lang));
    window.addEventListener('pagehide', event => event.persisted || manager.dispose());
    return manager;
  }
};
