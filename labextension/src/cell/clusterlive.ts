import { clusterPage } from '../requests';
import type { IJobManager } from '../tokens';

import { Live } from './live';
import { readMachines, type IMachines } from './reading';

/** Milliseconds between looks: cards are also taken and given back by what is no job of ours. */
const EVERY = 10_000;
const TOGETHER = 1000;

/** The machines of one cluster, or of all. */
export class ClusterLive extends Live {
  constructor(
    private readonly _cluster: string | null,
    manager: IJobManager
  ) {
    super(manager);
  }

  page: IMachines | null = null;

  protected override async ask(): Promise<number> {
    this.page = readMachines(await clusterPage(this.manager, this._cluster));
    return EVERY;
  }

  protected override hear(): void {
    this.rounds.soon(TOGETHER);
  }
}
