import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';

import { IJobManager } from '../tokens';

/** Shows kernels that were registered or removed at once; JupyterLab itself looks about once a minute. */
export const kernelsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-aiarts:kernels',
  description: 'Shows new kernels of environments at once.',
  autoStart: true,
  requires: [IJobManager],
  activate: (app: JupyterFrontEnd, manager: IJobManager) => {
    manager.kernelsChanged.connect(() => {
      app.serviceManager.kernelspecs.refreshSpecs().catch((error: unknown) => {
        console.warn('jupyter-aiarts: the kernels could not be asked for', error);
      });
    });
  }
};
