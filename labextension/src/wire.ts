/**
 * What the server says on `aiarts/stream`, and the check that it really said that.
 */
import type { Action, Attempt, ListedJob, ListedSpec, Move, Progress, UsagePage } from './api';

export const PHASES = [
  'queued',
  'starting',
  'running',
  'paused',
  'succeeded',
  'failed',
  'lost',
  'stopped'
] as const;

export type Phase = (typeof PHASES)[number];

const MOVES: ReadonlyArray<Move> = ['clone', 'delete', 'edit', 'pause', 'release', 'rerun', 'resume', 'stop'];

export interface IExplanation {
  readonly code: string;
  readonly title: string;
  readonly why?: string;
  readonly actions?: ReadonlyArray<Action>;
}

/** The part of a job that lists show; what an older server does not say is filled in by `parseJob`. */
export type IJob = Required<
  Pick<
    ListedJob,
    'id' | 'name' | 'cluster' | 'owner' | 'phase' | 'run' | 'created' | 'started' | 'ended' | 'spec' | 'moves'
  >
> & {
  readonly explanation: IExplanation | null;
  /** While it runs: since when none of its cards does anything, where that is known. */
  readonly idleSince?: string;
  /** While it runs: how far its own output says it is. */
  readonly progress?: Progress;
  /** Of a run that was paused and went on: when it was queued, ran and ended each time. */
  readonly attempts?: ReadonlyArray<Attempt>;
};

/** What the server says of itself and of the clusters; `null` where a message says nothing about it. */
export interface IHealth {
  readonly version: string | null;
  readonly clusters: ReadonlyArray<ICluster> | null;
}

/**
 * Where jobs run; one that does not answer has the time since when. `owner` is whose jobs are this user's,
 * `null` where all of them are.
 */
export interface ICluster {
  readonly name: string;
  readonly owner: string | null;
  readonly staleSince: string | null;
  /** The nodes that are not well; not there where the server does not guard them, or may not see them. */
  readonly unwell?: ReadonlyArray<INode>;
}

/** A node and what is wrong with it, by codes: `not-ready`, `disk-pressure`, `unhealthy-cards` … */
export interface INode {
  readonly node: string;
  readonly problems: ReadonlyArray<string>;
}

/** A kernel of this server whose cards, all of them, do nothing; what it works for is named. */
export interface IIdleKernel {
  readonly id: string;
  readonly name: string;
  /** Of the notebook; empty where it is a console's, or nobody's. */
  readonly path: string;
  readonly cards: number;
  /** Of the cards, `null` where the driver does not tell. */
  readonly memoryMb: number | null;
  readonly idleSince: string;
}

export type Message =
  | { readonly type: 'snapshot'; readonly jobs: ReadonlyArray<IJob>; readonly idle: ReadonlyArray<IIdleKernel> }
  | { readonly type: 'jobs'; readonly jobs: ReadonlyArray<IJob> }
  | { readonly type: 'removed'; readonly ids: ReadonlyArray<string> }
  | ({ readonly type: 'health' } & IHealth)
  | { readonly type: 'kernels' }
  | { readonly type: 'idle'; readonly kernels: ReadonlyArray<IIdleKernel> }
  | { readonly type: 'usage'; readonly usage: UsagePage }
  | { readonly type: 'other' };

/** Raised when the server's words don't have the agreed shape; the message says which part. */
export class WireError extends Error {}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Read one websocket message. A type that is not known yet gives `other`, so that an older page
 * survives a newer server; a known type in a wrong shape is a `WireError`.
 */
export function parseMessage(text: string): Message {
  const message = fields(parseJson(text), 'message');
  switch (message.type) {
    case 'snapshot':
      return { type: 'snapshot', jobs: parseJobs(message.jobs), idle: parseIdleKernels(message.idle ?? []) };
    case 'jobs':
      return { type: 'jobs', jobs: parseJobs(message.jobs) };
    case 'removed':
      return { type: 'removed', ids: list(message.ids, 'ids').map(id => string(id, 'id')) };
    case 'health':
      return { type: 'health', ...parseHealth(message) };
    case 'kernels':
      return { type: 'kernels' };
    case 'idle':
      return { type: 'idle', kernels: parseIdleKernels(message.kernels) };
    case 'usage':
      return { type: 'usage', usage: parseUsage(message.usage) };
    default:
      return { type: 'other' };
  }
}

function parseJobs(value: unknown): ReadonlyArray<IJob> {
  return list(value, 'jobs').map(parseJob);
}

/** A job of a list, of the stream or of an answer. */
export function parseJob(value: unknown): IJob {
  const job = fields(value, 'job');
  return {
    id: string(job.id, 'job.id'),
    name: string(job.name, 'job.name'),
    cluster: string(job.cluster, 'job.cluster'),
    owner: string(job.owner, 'job.owner'),
    phase: phase(job.phase),
    created: string(job.created, 'job.created'),
    run: typeof job.run === 'number' ? job.run : 1,
    started: typeof job.started === 'string' ? job.started : null,
    ended: typeof job.ended === 'string' ? job.ended : null,
    spec: parseSpec(job.spec ?? {}),
    moves: job.moves === undefined ? [] : list(job.moves, 'job.moves').filter(isMove),
    explanation: parseExplanation(job.explanation),
    ...(job.attempts === undefined ? {} : { attempts: list(job.attempts, 'job.attempts').map(parseAttempt) }),
    ...(typeof job.idle_since === 'string' ? { idleSince: job.idle_since } : {}),
    ...(job.progress ? { progress: parseProgress(job.progress) } : {})
  };
}

function parseAttempt(value: unknown): Attempt {
  const { queued, started, ended } = fields(value, 'job.attempts');
  const time = (one: unknown): string | null => (typeof one === 'string' ? one : null);
  return { queued: time(queued), started: time(started), ended: time(ended) };
}

function parseProgress(value: unknown): Progress {
  const { text, share } = fields(value, 'job.progress');
  return typeof share === 'number'
    ? { text: string(text, 'job.progress.text'), share: Math.min(Math.max(share, 0), 1) }
    : fail('job.progress.share', share);
}

/** The short spec: a job with a whole one has the same keys. */
function parseSpec(value: unknown): ListedSpec {
  const spec = fields(value, 'job.spec');
  const text = (one: unknown): string | null => (typeof one === 'string' ? one : null);
  const number = (one: unknown, otherwise: number): number => (typeof one === 'number' ? one : otherwise);
  return {
    kind: spec.kind === 'distributed' ? 'distributed' : 'regular',
    device: text(spec.device) ?? 'cpu',
    devices: number(spec.devices, 0),
    nodes: number(spec.nodes, 1),
    image: text(spec.image),
    queue: text(spec.queue),
    priority: number(spec.priority, 5),
    script: text(spec.script)
  };
}

/** A move that a newer server offers and this page does not know is not shown. */
function isMove(value: unknown): value is Move {
  return MOVES.some(move => move === value);
}

function parseUsage(value: unknown): UsagePage {
  const page = fields(value, 'usage');
  fields(page.host, 'usage.host');
  list(page.devices, 'usage.devices');
  string(page.t, 'usage.t');
  return page as unknown as UsagePage;
}

function parseIdleKernels(value: unknown): ReadonlyArray<IIdleKernel> {
  return list(value, 'kernels').map(parseIdleKernel);
}

function parseIdleKernel(value: unknown): IIdleKernel {
  const kernel = fields(value, 'kernel');
  return {
    id: string(kernel.id, 'kernel.id'),
    name: string(kernel.name, 'kernel.name'),
    path: string(kernel.path, 'kernel.path'),
    cards: typeof kernel.cards === 'number' ? kernel.cards : fail('kernel.cards', kernel.cards),
    memoryMb: typeof kernel.memory_mb === 'number' ? kernel.memory_mb : null,
    idleSince: string(kernel.idle_since, 'kernel.idle_since')
  };
}

function parseExplanation(value: unknown): IExplanation | null {
  if (value === null || value === undefined) {
    return null;
  }
  const explanation = fields(value, 'explanation');
  return {
    code: string(explanation.code, 'explanation.code'),
    title: string(explanation.title, 'explanation.title'),
    ...(typeof explanation.why === 'string' ? { why: explanation.why } : {}),
    ...(Array.isArray(explanation.actions) ? { actions: explanation.actions as ReadonlyArray<Action> } : {})
  };
}

/** A health answer or message. */
export function parseHealth(value: unknown): IHealth {
  const { versions, clusters } = fields(value, 'health');
  return {
    version: versions === undefined ? null : string(fields(versions, 'health.versions').server, 'health.versions.server'),
    clusters: clusters === undefined ? null : list(clusters, 'health.clusters').map(parseCluster)
  };
}

function parseCluster(value: unknown): ICluster {
  const { name, owner, stale_since: since, unwell } = fields(value, 'cluster');
  return {
    name: string(name, 'cluster.name'),
    owner: owner === null || owner === undefined ? null : string(owner, 'cluster.owner'),
    staleSince: since === null || since === undefined ? null : string(since, 'cluster.stale_since'),
    ...(unwell === null || unwell === undefined ? {} : { unwell: list(unwell, 'cluster.unwell').map(parseNode) })
  };
}

function parseNode(value: unknown): INode {
  const { node, problems } = fields(value, 'node');
  const codes = list(problems, 'node.problems').map(one => string(one, 'problem'));
  return { node: string(node, 'node.node'), problems: codes };
}

function phase(value: unknown): Phase {
  const known = PHASES.find(candidate => candidate === value);
  return known ?? fail('job.phase', value);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new WireError(`not JSON: ${(error as SyntaxError).message}`);
  }
}

function fields(value: unknown, where: string): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : fail(where, value);
}

function list(value: unknown, where: string): ReadonlyArray<unknown> {
  return Array.isArray(value) ? value : fail(where, value);
}

function string(value: unknown, where: string): string {
  return typeof value === 'string' ? value : fail(where, value);
}

function fail(where: string, value: unknown): never {
  throw new WireError(`unexpected ${where}: ${JSON.stringify(value)}`);
}
