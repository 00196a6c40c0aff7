/**
 * The names by which the plugins find each other.
 */
import { Token } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';

import type { Fix, FixRequest, Job, JobRequest, Json, Move, UsagePage } from './api';
import type { ICluster, IIdleKernel, IJob } from './wire';

/**
 * How the picture relates to the server:
 * - `connecting`: nothing was heard yet and nothing failed yet
 * - `live`: every change arrives as it happens
 * - `stale`: it was live until `since`; the jobs are those of that moment
 * - `absent`: the server never answered on the stream
 * `needsLogin`: it answers, but not to this page any more.
 */
export type Link =
  | { readonly state: 'connecting' }
  | { readonly state: 'live' }
  | { readonly state: 'stale'; readonly since: Date; readonly needsLogin?: true }
  | { readonly state: 'absent'; readonly needsLogin?: true };

/** The words after the question mark of an address; what is null or false is left out. */
export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** An answer that has come whole. */
export interface IAnswer {
  readonly headers: Pick<Headers, 'get'>;
  readonly text: string;
}

/** How to ask one of the server's routes. */
export interface IRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly query?: Query;
  readonly body?: object;
  /** Gives the question up. */
  readonly signal?: AbortSignal;
}

/** The moves that a route of their own carries out. */
export type ServerMove = Exclude<Move, 'clone' | 'delete' | 'edit'>;

/** A JSON merge patch of a spec. */
export type Patch = Readonly<Record<string, Json>>;

/** The one picture of all jobs in this page; panels subscribe to `changed` and read. */
export interface IJobManager {
  /** Emitted after every change of `jobs`, `idleKernels`, `link`, `serverVersion` or `clusters`. */
  readonly changed: ISignal<IJobManager, void>;
  /** Emitted when environments or the kernels made of them are others; the server tells it once it knows. */
  readonly kernelsChanged: ISignal<IJobManager, void>;
  /** The kernels of this server that hold cards and do nothing with them. */
  readonly idleKernels: ReadonlyArray<IIdleKernel>;
  /** Newest first. */
  readonly jobs: ReadonlyArray<IJob>;
  readonly link: Link;
  /** What the server's health says, `null` until it said so. */
  readonly serverVersion: string | null;
  /** All clusters, as far as the server has told of them. */
  readonly clusters: ReadonlyArray<ICluster>;
  /** The clusters that do not answer the server. */
  readonly away: ReadonlyArray<ICluster>;
  /** Whether a job is this user's; nobody's is, as long as the server has not said who that is. */
  isMine(job: IJob): boolean;
  /** A job of the picture; not there when it was deleted, or never was. */
  job(id: string): IJob | undefined;
  /** Milliseconds since 1970 by the server's clock, which times of jobs are compared with. */
  now(): number;
  /** Emitted when this machine was looked at again, while somebody watches it. */
  readonly usageChanged: ISignal<IJobManager, void>;
  /** The newest look at this machine; `null` while nobody watches it. */
  readonly usage: UsagePage | null;
  /** Watch this machine until disposed; only call it while it is shown. */
  watchUsage(): IDisposable;
  /** Look whether the connection lives, and make another where it has been silent for long; called now and then by pages that are seen. */
  check(): void;
  /** Ask a route below `aiarts/`; `requests.ts` has the typed questions. */
  ask<T>(path: string, request?: IRequest): Promise<T>;
  /** A whole answer with its headers; fails as `ask` does, also when it takes too long. */
  read(path: string, request?: IRequest): Promise<IAnswer>;
  /** The answer itself once its head is there, for what is read as it comes; fails as `ask` does. */
  fetch(path: string, request?: IRequest): Promise<Response>;
  /** The address of a route, for a link. */
  url(path: string, query?: Query): string;
  /** The job as it is afterwards; the picture shows it at once. */
  submit(spec: JobRequest): Promise<Job>;
  act(id: string, move: ServerMove): Promise<Job>;
  edit(id: string, patch: Patch): Promise<Job>;
  /** Do what an explanation suggests, or with `dry_run` say what that would change. */
  fix(id: string, request: FixRequest): Promise<Fix>;
  /** Delete a job; the answer says what of it could not be removed, and is empty otherwise. */
  remove(id: string): Promise<string>;
}

export const IJobManager = new Token<IJobManager>(
  'jupyter-aiarts:IJobManager',
  'The live picture of all AIArts jobs.'
);

/** What a panel needs of the rest of JupyterLab. */
export interface IDoors {
  act(move: Move, jobs: ReadonlyArray<IJob>): void;
  /** Show what can be done with these jobs, at a place of the page. */
  menu(jobs: ReadonlyArray<IJob>, x: number, y: number): void;
  open(job: IJob): void;
  /** Show the machines behind the jobs. */
  cluster(): void;
  /** The form for a new job, with what is known of it already. */
  newJob(spec?: JobRequest): void;
  demo(): void;
  /** A script to look at, and a form that is filled in for it. */
  guide(): void;
}

/** The commands by which the parts of this extension open each other. */
export const Commands = {
  showJobs: 'jupyter-aiarts:show-jobs',
  /** `{script?, id?, how?: 'clone' | 'edit'}` */
  newJob: 'jupyter-aiarts:new-job',
  demo: 'jupyter-aiarts:demo',
  guide: 'jupyter-aiarts:guide',
  /** `{move, ids?}`: without ids, the jobs that are chosen in the sidebar. */
  act: 'jupyter-aiarts:act',
  /** `{id, fix, label}`: what an explanation suggests. */
  fix: 'jupyter-aiarts:fix',
  /** `{id, tab?}`; brought by the job page, where there is room for pages. */
  openJob: 'jupyter-aiarts:open-job',
  openCluster: 'jupyter-aiarts:open-cluster'
} as const;

/** The widget's id in the shell; the command opens it by this name. */
export const PANEL_ID = 'jupyter-aiarts-jobs';
