import { ApiError } from '../errors';
import { JobLog } from '../logview/source';
import type { ILogLine } from '../logview/line';
import { isFinished } from '../phases';
import { jobUsage, wholeJob } from '../requests';
import type { IJobManager } from '../tokens';
import type { IJob } from '../wire';

import { Live } from './live';
import { readJob, readJobUsage, type ICardUse, type IWholeJob } from './reading';

export const TAIL = 12;
/** Milliseconds between looks at the log of a job that prints, and of one that has not printed lately. */
const QUICK = 1000;
const SLOW = 5000;
/** The launcher looks at its cards every half minute. */
const CARDS = 15_000;

/**
 * One job: asked for again when the stream says that it changed, and its log while it runs.
 *
 * The log's end is asked for and not followed: a browser keeps six connections to a server, and a notebook full of
 * followed logs would leave none for saving the notebook.
 */
export class JobLive extends Live {
  constructor(
    readonly id: string,
    manager: IJobManager
  ) {
    super(manager);
    this._log = new JobLog(manager, id);
  }

  job: IWholeJob | null = null;
  lines: ReadonlyArray<ILogLine> = [];
  /** Why there is no log, in the server's words. */
  silence: string | null = null;
  cards: ReadonlyArray<ICardUse> = [];

  /** The server's clock. */
  readonly clock = (): number => this.manager.now();

  protected override async ask(): Promise<number | null> {
    const told = this._told;
    const isNew = this.job === null || told !== this._seen || this.trouble !== null;
    if (isNew) {
      this.job = readJob(await wholeJob(this.manager, this.id));
      this._seen = told;
    }
    const { phase, devices } = this.job!;
    const runs = phase === 'running' || phase === 'starting';
    if (isNew || runs) {
      await this._askLog();
    }
    if (devices > 0 && (isNew || (runs && Date.now() - this._cardsAt >= CARDS))) {
      this._cardsAt = Date.now();
      this.cards = readJobUsage(await jobUsage(this.manager, this.id));
    }
    return runs ? this._pace : null;
  }

  private async _askLog(): Promise<void> {
    try {
      const { lines, silence } = await this._log.page({ tail: TAIL });
      const last = lines[lines.length - 1]?.seq;
      this._pace = last === this._last ? Math.min(this._pace * 1.5, SLOW) : QUICK;
      this._last = last;
      this.lines = lines;
      this.silence = silence;
    } catch (error) {
      if (!(error instanceof ApiError)) {
        throw error;
      }
      this.silence = error.message; // the log cannot be read; the job can
    }
  }

  /** The stream's word about this job: another object after every change. */
  private get _told(): IJob | null {
    return this.manager.job(this.id) ?? null;
  }

  protected override hear(): void {
    const told = this._told;
    if (told !== this._seen && (told !== null || this.manager.link.state === 'live')) {
      this.rounds.soon();
    }
  }

  /** Whether nothing more is asked for by itself. */
  get isOver(): boolean {
    return this.job !== null && isFinished(this.job.phase);
  }

  private _cardsAt = 0;
  private _last: string | undefined;
  private readonly _log: JobLog;
  private _pace = QUICK;
  private _seen: IJob | null = null;
}
