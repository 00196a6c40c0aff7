import { ILabShell, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import type { ICellDoors } from '../cell/doors';
import { MIME } from '../cell/mime';
import { Output } from '../cell/output';
import { Commands, IJobManager } from '../tokens';

/** Before HTML, and before widgets, which need a kernel. */
const RANK = -10;

/** Draws jobs, usage and machines live in a cell's output, without a kernel. */
export const cellPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-aiarts:cell',
  description: 'Shows AIArts jobs and usage live in the output of a cell.',
  autoStart: true,
  requires: [IJobManager, IRenderMimeRegistry],
  optional: [ITranslator, ILabShell],
  activate: (
    { commands }: JupyterFrontEnd,
    manager: IJobManager,
    registry: IRenderMimeRegistry,
    translator: ITranslator | null,
    shell: ILabShell | null
  ) => {
    const doors: ICellDoors = {
      act: (move, id) => void commands.execute(Commands.act, { move, ids: [id] }),
      open: shell && (id => void commands.execute(Commands.openJob, { id }))
    };
    const ground = { manager, doors, trans: (translator ?? nullTranslator).load('jupyter_aiarts') };
    // Safe without trust: nothing of the notebook is shown but plain text, and nothing is done without a click.
    registry.addFactory({ safe: true, mimeTypes: [MIME], createRenderer: () => new Output(ground) }, RANK);
  }
};
