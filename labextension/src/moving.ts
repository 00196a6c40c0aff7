/**
 * The moves of a job as a person makes them: asked before, done, told after.
 */
import type { TranslationBundle } from '@jupyterlab/translation';

import type { Action, Fix, Job, Move } from './api';
import { errorText, isNobody } from './errors';
import { wholeJob } from './requests';
import type { IJobManager } from './tokens';
import type { IJob } from './wire';

/** In the order in which menus show them. */
export const MOVES: ReadonlyArray<Move> = ['resume', 'rerun', 'pause', 'stop', 'release', 'clone', 'edit', 'delete'];

/** More refusals than this are told as one. */
const MANY = 3;

/** A question before a move. */
export interface IQuestion {
  readonly title: string;
  readonly lines: ReadonlyArray<string>;
  readonly accept: string;
  readonly isDanger: boolean;
}

/** What a move needs of the page; tests bring their own. */
export interface IRoom {
  ask(question: IQuestion): Promise<boolean>;
  tell(text: string, kind: 'success' | 'error' | 'warning'): void;
  /** Put a text on the clipboard. */
  copy(text: string): void;
  /** Open the form with this job's spec, to make another or to change it. */
  form(job: IJob, how: 'clone' | 'edit'): void;
  /** Whether to ask before moves that can be taken back. */
  readonly asksOften: boolean;
}

/** The move as a button says it. */
export function moveLabel(move: Move, trans: TranslationBundle): string {
  const labels: Readonly<Record<Move, string>> = {
    stop: trans.__('Stop'),
    pause: trans.__('Pause'),
    resume: trans.__('Resume'),
    rerun: trans.__('Run again'),
    release: trans.__('Release'),
    clone: trans.__('Clone…'),
    edit: trans.__('Edit…'),
    delete: trans.__('Delete')
  };
  return labels[move];
}

/** The moves that at least one of the jobs offers, in the order of menus; the form takes one job at a time. */
export function offered(jobs: ReadonlyArray<IJob>): ReadonlyArray<Move> {
  const all = MOVES.filter(move => jobs.some(job => job.moves.includes(move)));
  return jobs.length === 1 ? all : all.filter(move => move !== 'clone' && move !== 'edit');
}

/** What to ask before a move; `whole` is the job where there is one. `null`: nothing is lost by it, so nothing is asked. */
export function question(
  move: Move,
  jobs: ReadonlyArray<IJob>,
  whole: Job | null,
  trans: TranslationBundle
): IQuestion | null {
  const what = named(jobs, trans);
  switch (move) {
    case 'stop':
      return {
        title: trans.__('Stop %1?', what),
        lines: [trans.__('Its processes are told to end, and killed if they do not. The job and its logs stay.')],
        accept: trans.__('Stop'),
        isDanger: false
      };
    case 'pause':
      return { title: trans.__('Pause %1?', what), lines: pauseLines(whole, trans), accept: trans.__('Pause'), isDanger: false };
    case 'release':
      return {
        title: trans.__('Release %1?', what),
        lines: [
          trans.__('Its pods on nodes that do not answer are given up. If such a node is alive after all, its process may still run.')
        ],
        accept: trans.__('Release'),
        isDanger: true
      };
    case 'delete':
      return {
        title: trans.__('Delete %1?', what),
        lines: deleteLines(jobs, trans),
        accept: trans.__('Delete'),
        isDanger: true
      };
    default:
      return null;
  }
}

function pauseLines(whole: Job | null, trans: TranslationBundle): ReadonlyArray<string> {
  const output = whole?.spec.output_path;
  return [
    trans.__('Its processes end and its cards are free for others.'),
    trans.__('When it is resumed, its environment is rebuilt and its start file begins anew: it needs a checkpoint to go on from.'),
    output
      ? trans.__('Checkpoints belong in %1, which the job knows as SAVE_PATH.', output)
      : trans.__('Checkpoints belong in the folder that the job knows as SAVE_PATH; without an output path that is the folder of this run.')
  ];
}

function deleteLines(jobs: ReadonlyArray<IJob>, trans: TranslationBundle): ReadonlyArray<string> {
  const isActive = jobs.some(({ phase }) => phase === 'running' || phase === 'starting');
  return [
    ...(isActive ? [trans.__('What runs is stopped first.')] : []),
    trans.__('All runs and their logs are removed. This cannot be taken back.')
  ];
}

function said(value: unknown): string {
  return value === null || value === undefined ? '–' : typeof value === 'string' ? value : JSON.stringify(value);
}

function named(jobs: ReadonlyArray<IJob>, trans: TranslationBundle): string {
  return jobs.length === 1 ? `“${jobs[0]!.name}”` : trans.__('%1 jobs', jobs.length);
}

function doneText(move: Move, what: string, run: number | null, trans: TranslationBundle): string {
  switch (move) {
    case 'stop':
      return trans.__('Stopped %1', what);
    case 'pause':
      return trans.__('Paused %1', what);
    case 'resume':
      return trans.__('Resumed %1', what);
    case 'rerun':
      return run === null ? trans.__('Running %1 again', what) : trans.__('Running %1 again, run %2', what, run);
    case 'release':
      return trans.__('Released %1', what);
    default:
      return trans.__('Deleted %1', what);
  }
}

/** Refusals as they are told: more than a few at once are one, for a screen full of cards is not read. */
function refusals(texts: ReadonlyArray<string>, trans: TranslationBundle): ReadonlyArray<string> {
  return texts.length > MANY ? [`${trans.__('%1 jobs were refused.', texts.length)} ${texts[0]}`] : texts;
}

/** Makes moves: the one place from which every button, menu and key does it. */
export class Mover {
  constructor(
    private readonly _manager: IJobManager,
    private readonly _trans: TranslationBundle,
    private readonly _room: IRoom
  ) {}

  /** Ask where something could be lost, make the move with all jobs that offer it, tell what came of it. */
  async move(move: Move, jobs: ReadonlyArray<IJob>): Promise<void> {
    const meant = jobs.filter(job => job.moves.includes(move));
    const [first] = meant;
    if (first === undefined) {
      return;
    }
    if (move === 'clone' || move === 'edit') {
      this._room.form(first, move);
    } else if (await this._isMeant(move, meant)) {
      await this._carryOut(move, meant);
    }
  }

  /** Do what an explanation suggests, after showing what that changes; a line for one's own shell can be copied. */
  async fix(job: IJob, action: Action): Promise<void> {
    try {
      const plan = await this._manager.fix(job.id, { fix: action.id, dry_run: true });
      if (plan.command && (plan.kind === 'shell' || plan.kind === 'look')) {
        const asked = { title: action.label, lines: [plan.command], accept: this._trans.__('Copy'), isDanger: false };
        if (await this._room.ask(asked)) {
          this._room.copy(plan.command);
        }
      } else if (plan.kind !== 'words' && (await this._room.ask(this._fixQuestion(job, plan)))) {
        await this._manager.fix(job.id, { fix: action.id });
        this._room.tell(`${job.name}: ${action.label}`, 'success');
      }
    } catch (error) {
      this._room.tell(`${job.name}: ${errorText(error, this._trans)}`, 'error');
    }
  }

  private _fixQuestion(job: IJob, plan: Fix): IQuestion {
    const trans = this._trans;
    const changes = plan.changes.map(({ key, before, after }) => `${key}: ${said(before)} → ${said(after)}`);
    const moves = [plan.first, plan.move].flatMap(move => (move ? [moveLabel(move, trans)] : []));
    return {
      title: `“${job.name}”: ${plan.action.label}`,
      lines: [...changes, ...(moves.length > 0 ? [trans.__('Then: %1', moves.join(', '))] : [])],
      accept: trans.__('Do it'),
      isDanger: false
    };
  }

  private async _isMeant(move: Move, jobs: ReadonlyArray<IJob>): Promise<boolean> {
    if (!this._room.asksOften && move !== 'delete' && move !== 'release') {
      return true;
    }
    // Only the question of a pause needs more than the list knows; without the answer it is asked all the same.
    const whole = move === 'pause' && jobs.length === 1 ? await wholeJob(this._manager, jobs[0]!.id).catch(() => null) : null;
    const asked = question(move, jobs, whole, this._trans);
    return asked === null || this._room.ask(asked);
  }

  private async _carryOut(move: Exclude<Move, 'clone' | 'edit'>, jobs: ReadonlyArray<IJob>): Promise<void> {
    const trans = this._trans;
    const done: IJob[] = [];
    const refused: string[] = [];
    let run: number | null = null;
    let left = jobs.length;
    // One after the other: a server that is down is not asked a thousand times. One that refuses a job may take the next.
    for (const job of jobs) {
      left -= 1;
      try {
        if (move === 'delete') {
          const stayed = await this._manager.remove(job.id);
          if (stayed) {
            this._room.tell(stayed, 'warning');
          }
        } else {
          run = (await this._manager.act(job.id, move)).run;
        }
        done.push(job);
      } catch (error) {
        refused.push(`${job.name}: ${errorText(error, trans)}`);
        if (isNobody(error)) {
          break;
        }
      }
    }
    refusals(refused, trans).forEach(text => this._room.tell(text, 'error'));
    if (left > 0) {
      this._room.tell(trans.__('Not tried any more: %1 jobs', left), 'error');
    }
    if (done.length > 0) {
      const what = named(done, trans);
      this._room.tell(doneText(move, what, done.length === 1 ? run : null, trans), 'success');
    }
  }
}
