import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { Newsroom } from '../newsroom';
import { IJobManager, PANEL_ID } from '../tokens';

const ID = 'jupyter-aiarts:notifications';

/** Tells by JupyterLab's own notifications what became of this user's jobs. */
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
    const newsroom = new Newsroom(manager, trans, news =>
      Notification.emit(news.text, news.kind, { actions: [show], autoClose: news.kind === 'error' ? false : 5000 })
    );
    void settings?.load(ID).then(loaded => {
      const follow = (): void => {
        const ends = loaded.get('ends').composite as boolean;
        newsroom.wishes = { ends, waiting: loaded.get('waitingMinutes').composite as number };
      };
      loaded.changed.connect(follow);
      follow();
    });
  }
};
