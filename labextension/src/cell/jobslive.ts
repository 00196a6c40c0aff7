import { isGone } from '../errors';
import { listedJobs, wholeJob } from '../requests';
import type { IJobManager } from '../tokens';
import type { IJob } from '../wire';

import { Live } from './live';
import { readJob, type IWholeJob } from './reading';
import { keptRows } from './rows';

/** Rows, where the list does not say how many. */
const MOST = 100;
/** Milliseconds in which changes are taken together: a burst of jobs is one question. */
const TOGETHER = 1000;

/** A list of jobs: asked for again when the stream says that jobs changed. */
export class JobsLive extends Live {
  constructor(
    private readonly _query: Readonly<Record<string, string>>,
    private readonly _ids: ReadonlyArray<string> | null,
    manager: IJobManager
  ) {
    super(manager);
  }

  jobs: ReadonlyArray<IWholeJob> | null = null;

  /** Whether there may be more than are shown. */
  get isCut(): boolean {
    return this._query.limit === undefined && this.jobs?.length === MOST;
  }

  /** The server's clock. */
  readonly clock = (): number => this.manager.now();

  protected override async ask(): Promise<null> {
    this._seen = this.manager.jobs;
    this.jobs = keptRows(this.jobs ?? [], this._ids === null ? await this._list() : await this._each(this._ids));
    return null;
  }

  private async _list(): Promise<ReadonlyArray<IWholeJob>> {
    return (await listedJobs(this.manager, { limit: MOST, ...this._query })).map(readJob);
  }

  /** Only those that changed; one that was deleted is left out. */
  private async _each(ids: ReadonlyArray<string>): Promise<ReadonlyArray<IWholeJob>> {
    const known = new Map((this.jobs ?? []).map(job => [job.id, job]));
    const found: IWholeJob[] = [];
    for (const id of ids) {
      const told = this._seen.find(job => job.id === id) ?? null;
      const old = known.get(id);
      if (old !== undefined && told !== null && told === this._told.get(id)) {
        found.push(old);
        continue;
      }
      try {
        found.push(readJob(await wholeJob(this.manager, id)));
      } catch (error) {
        if (!isGone(error)) {
          throw error;
        }
      }
      this._told.set(id, told);
    }
    return found;
  }

  protected override hear(): void {
    const { jobs } = this.manager;
    if (jobs.length !== this._seen.length || jobs.some((job, place) => job !== this._seen[place])) {
      this.rounds.soon(TOGETHER);
    }
  }

  private _seen: ReadonlyArray<IJob> = [];
  private _told = new Map<string, IJob | null>();
}
