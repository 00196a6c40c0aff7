import { ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { addDemo, addMoves, Doors } from '../doors';
import { addGuide } from '../guide';
import { Mover } from '../moving';
import { JobsPanel } from '../panel';
import { LabRoom } from '../room';
import { IJobManager } from '../tokens';

const ID = 'jupyter-aiarts:panel';

/** Puts the jobs into the left sidebar. */
export const panelPlugin: JupyterFrontEndPlugin<void> = {
  id: ID,
  description: 'Shows AIArts jobs in the sidebar.',
  autoStart: true,
  requires: [IJobManager],
  optional: [ITranslator, ILayoutRestorer, ISettingRegistry],
  activate: (
    { commands, shell, serviceManager: { contents } }: JupyterFrontEnd,
    manager: IJobManager,
    translator: ITranslator | null,
    restorer: ILayoutRestorer | null,
    settings: ISettingRegistry | null
  ) => {
    const trans = (translator ?? nullTranslator).load('jupyter_aiarts');
    const room = new LabRoom(commands, trans);
    const mover = new Mover(manager, trans, room);
    const panel = new JobsPanel(manager, trans, new Doors(commands, mover));
    addMoves(commands, manager, mover, () => panel.selected, trans);
    addDemo(commands, manager, room, trans);
    addGuide(commands, contents, room, trans);
    shell.add(panel, 'left', { rank: 600, type: 'AIArts' });
    restorer?.add(panel, panel.id);
    void settings?.load(ID).then(loaded => [room, panel].forEach(one => one.follow(loaded)));
  }
};
