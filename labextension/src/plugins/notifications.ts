import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { type IWishes, Newsroom } from '../newsroom';
import { toast } from '../toasts';
import { IJobManager, PANEL_ID } from '../tokens';

const ID = 'jupyter-aiarts:notifications';

type ISettings = Pick<IWishes, 'ends' | 'nodes'> & { readonly waitingMinutes: number };

/** Tells by JupyterLab's own notifications what became of this user's jobs, and admins of nodes that are not well. */
export const notificationsPlugin: JupyterFrontEndPlugin<void> = {
  id: ID,
  description: 'Tells when AIArts jobs end or wait for long.',
  autoStart: true,
  requires: [IJobManager],
  optional: [ITranslator, ISettingRegistry],
  activate: (
    app: JupyterFrontEnd,
    manager: IJobManager,
    translator: ITranslator | null,
    settings: ISettingRegistry | null
  ) => {
    const trans = (translator ?? nullTranslator).load('jupyter_aiarts');
    const show = { label: trans.__('Show jobs'), callback: () => app.shell.activateById(PANEL_ID) };
    const newsroom = new Newsroom(manager, trans, ({ text, kind, ofNodes }) =>
      toast(text, kind, trans, { actions: ofNodes ? [] : [show], autoClose: kind === 'error' ? false : 5000 })
    );
    void settings?.load(ID).then(loaded => {
      const follow = (): void => {
        const { ends, nodes, waitingMinutes: waiting } = loaded.composite as unknown as ISettings;
        newsroom.wishes = { ends, nodes, waiting };
      };
      loaded.changed.connect(follow);
      follow();
    });
  }
};
