import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { Menu } from '@lumino/widgets';

import type { JobRequest, Move } from './api';
import { errorText } from './errors';
import { type IRoom, moveLabel, type Mover, MOVES, offered } from './moving';
import { Commands, type IDoors, type IJobManager } from './tokens';
import type { IJob } from './wire';

/** What the demo job runs: counts, so that there is something to watch. */
const DEMO = 'for i in $(seq 1 30); do echo "step $i of 30"; sleep 1; done; echo done';

/** The ways from the sidebar to the rest of JupyterLab; made by the panel plugin. */
export class Doors implements IDoors {
  constructor(
    private readonly _commands: CommandRegistry,
    private readonly _mover: Mover
  ) {}

  act(move: Move, jobs: ReadonlyArray<IJob>): void {
    void this._mover.move(move, jobs);
  }

  menu(jobs: ReadonlyArray<IJob>, x: number, y: number): void {
    const menu = new Menu({ commands: this._commands });
    const ids = jobs.map(job => job.id);
    if (ids.length === 1 && this._commands.hasCommand(Commands.openJob)) {
      menu.addItem({ command: Commands.openJob, args: { id: ids[0]! } });
      menu.addItem({ type: 'separator' });
    }
    offered(jobs).forEach(move => menu.addItem({ command: Commands.act, args: { move, ids } }));
    const actions = jobs.length === 1 ? (jobs[0]!.explanation?.actions ?? []) : [];
    const doable = actions.filter(action => action.patch || action.command);
    if (doable.length > 0) {
      menu.addItem({ type: 'separator' });
      doable.forEach(({ id: fix, label }) => menu.addItem({ command: Commands.fix, args: { id: ids[0]!, fix, label } }));
    }
    const before = document.activeElement;
    menu.aboutToClose.connect(() => {
      if (before instanceof HTMLElement) {
        before.focus({ preventScroll: true }); // Lumino's menu leaves it to nobody; a dialog that follows remembers it
      }
      window.setTimeout(() => menu.dispose(), 0);
    });
    menu.open(x, y);
  }

  open(job: IJob): void {
    if (this._commands.hasCommand(Commands.openJob)) {
      void this._commands.execute(Commands.openJob, { id: job.id });
    }
  }

  cluster(): void {
    void this._commands.execute(Commands.openCluster, {});
  }

  newJob(spec?: JobRequest): void {
    void this._commands.execute(Commands.newJob, spec ? { spec: spec as ReadonlyPartialJSONObject } : {});
  }

  demo(): void {
    void this._commands.execute(Commands.demo, {});
  }

  guide(): void {
    void this._commands.execute(Commands.guide, {});
  }
}

/** The moves as one command; without ids it means the jobs that are chosen. */
export function addMoves(
  commands: CommandRegistry,
  manager: IJobManager,
  mover: Mover,
  selected: () => ReadonlyArray<string>,
  trans: TranslationBundle
): void {
  type Args = { readonly move?: unknown; readonly ids?: unknown };
  const move = (args: Args): Move => MOVES.find(one => one === args.move) ?? 'stop';
  const jobs = (args: Args): ReadonlyArray<IJob> => {
    const ids = Array.isArray(args.ids) ? (args.ids as ReadonlyArray<string>) : selected();
    return ids.flatMap(id => manager.job(id) ?? []);
  };
  commands.addCommand(Commands.act, {
    label: args =>
      Array.isArray(args.ids) ? moveLabel(move(args), trans) : trans.__('%1: chosen jobs', moveLabel(move(args), trans)),
    isEnabled: args => offered(jobs(args)).includes(move(args)),
    execute: args => mover.move(move(args), jobs(args))
  });
  commands.addCommand(Commands.fix, {
    label: args => String(args.label ?? trans.__('Do what is suggested')),
    execute: async args => {
      const job = manager.job(String(args.id));
      const action = job?.explanation?.actions?.find(one => one.id === args.fix);
      return job && action ? mover.fix(job, action) : undefined;
    }
  });
}

/** A first job that runs anywhere, to look around with. */
export function addDemo(commands: CommandRegistry, manager: IJobManager, room: IRoom, trans: TranslationBundle): void {
  commands.addCommand(Commands.demo, {
    label: trans.__('Run a demo job'),
    execute: async () => {
      try {
        const name = trans.__('demo: count to 30');
        const job = await manager.submit({ name, cluster: 'local', command: DEMO });
        room.tell(trans.__('Submitted %1', `“${job.name}”`), 'success');
      } catch (error) {
        room.tell(errorText(error, trans), 'error');
      }
    }
  });
}
