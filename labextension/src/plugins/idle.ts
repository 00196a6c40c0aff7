import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { IdleWatch } from '../idle';
import { IdleNotice } from '../idlenotice';
import { idleRests } from '../idlerests';
import { release } from '../releasing';
import { LabRoom } from '../room';
import { IJobManager } from '../tokens';

const SETTINGS = 'jupyter-aiarts:notifications';

/** Points out this user's jobs and notebooks whose cards do nothing, with what can be done about it. */
export const idlePlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-aiarts:idle',
  description: 'Tells of jobs and notebooks that hold cards and do not use them.',
  autoStart: true,
  requires: [IJobManager],
  optional: [ITranslator, ISettingRegistry],
  activate: (
    { commands, serviceManager }: JupyterFrontEnd,
    manager: IJobManager,
    translator: ITranslator | null,
    settings: ISettingRegistry | null
  ) => {
    const trans = (translator ?? nullTranslator).load('jupyter_aiarts');
    const notice = new IdleNotice(commands, trans);
    const watch = new IdleWatch(manager, notice, idleRests);
    notice.onSnooze = () => watch.snooze();
    notice.onRelease = kernels => void release(kernels, serviceManager, new LabRoom(commands, trans), trans);
    void settings?.load(SETTINGS).then(loaded => {
      const follow = (): void => void (watch.minutes = loaded.get('idleMinutes').composite as number);
      loaded.changed.connect(follow);
      follow();
    });
  }
};
