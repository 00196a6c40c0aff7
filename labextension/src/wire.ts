/**
 * What the server says on `aiarts/stream`, and the check that it really said that.
 */

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

export interface IExplanation {
  readonly code: string;
  readonly title: string;
}

/** The part of a job that the sidebar shows. */
export interface IJob {
  readonly id: string;
  readonly name: string;
  readonly cluster: string;
  readonly owner: string;
  readonly phase: Phase;
  readonly created: string;
  readonly explanation: IExplanation | null;
}

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

export type Message =
  | { readonly type: 'snapshot' | 'jobs'; readonly jobs: ReadonlyArray<IJob> }
  | { readonly type: 'removed'; readonly ids: ReadonlyArray<string> }
  | ({ readonly type: 'health' } & IHealth)
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
    case 'jobs':
      return { type: message.type, jobs: list(message.jobs, 'jobs').map(parseJob) };
    case 'removed':
      return { type: 'removed', ids: list(message.ids, 'ids').map(id => string(id, 'id')) };
    case 'health':
      return { type: 'health', ...parseHealth(message) };
    default:
      return { type: 'other' };
  }
}

function parseJob(value: unknown): IJob {
  const job = fields(value, 'job');
  return {
    id: string(job.id, 'job.id'),
    name: string(job.name, 'job.name'),
    cluster: string(job.cluster, 'job.cluster'),
    owner: string(job.owner, 'job.owner'),
    phase: phase(job.phase),
    created: string(job.created, 'job.created'),
    explanation: parseExplanation(job.explanation)
  };
}

function parseExplanation(value: unknown): IExplanation | null {
  if (value === null || value === undefined) {
    return null;
  }
  const explanation = fields(value, 'explanation');
  return {
    code: string(explanation.code, 'explanation.code'),
    title: string(explanation.title, 'explanation.title')
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
