/**
 * The questions that pages ask, each with the type of its answer; the manager carries them.
 */
import type {
  ClusterPage,
  DryRun,
  Event,
  Filling,
  Job,
  JobRequest,
  JobUsage,
  KernelSize,
  ListedJob,
  NewTemplate,
  PathMap,
  PathReport,
  RankTable,
  ShownKernel,
  ShownQueue,
  Template,
  UsagePage,
  Variables
} from './api';
import { isGone } from './errors';
import type { IJobManager, Query } from './tokens';

type Asker = Pick<IJobManager, 'ask'>;

/** What a page asks by itself must not keep an idle server from being culled. */
export const QUIET = { no_track_activity: '1' } as const;

const look = <T>(asker: Asker, path: string, query: Query = {}): Promise<T> =>
  asker.ask<T>(path, { query: { ...query, ...QUIET } });

/** The job with its whole spec. */
export const wholeJob = (asker: Asker, id: string): Promise<Job> => look(asker, `jobs/${id}`);

/** Jobs by the words of `GET jobs`. */
export const listedJobs = (asker: Asker, query: Query): Promise<ReadonlyArray<ListedJob>> => look(asker, 'jobs', query);

/** What the platform did for a job. */
export const jobEvents = (asker: Asker, id: string): Promise<ReadonlyArray<Event>> => look(asker, `jobs/${id}/events`);

/** What the cards and ranks of a job do, and did since its run began. */
export const jobUsage = (asker: Asker, id: string): Promise<JobUsage> => look(asker, `jobs/${id}/usage`, { history: 1 });

/** What one rank was started with. */
export const jobEnv = (asker: Asker, id: string, rank: number): Promise<Variables> =>
  look(asker, `jobs/${id}/env`, { rank });

/** The rank table of a job's latest run with the doctor's verdict; `null` where there is none. */
export const rankTable = (asker: Asker, id: string): Promise<RankTable | null> =>
  look<RankTable>(asker, `jobs/${id}/ranktable`).catch((error: unknown) => {
    if (isGone(error)) {
      return null;
    }
    throw error;
  });

/** What a path is called for the server, in the job and on a node. */
export const pathReport = async (asker: Asker, path: string, job: string): Promise<PathReport | null> =>
  (await look<PathMap>(asker, 'places', { path, job })).report ?? null;

/** What this machine does, with what was seen in the last so many seconds. */
export const usagePage = (asker: Asker, history: number): Promise<UsagePage> => look(asker, 'usage', { history });

/** Counts what takes the room below a folder; that may take long, and `signal` gives it up. */
export const diskFilling = (asker: Asker, path: string, signal: AbortSignal): Promise<Filling> =>
  asker.ask('usage/disk', { query: { path, ...QUIET }, signal });

/** What would become of a spec; nothing is submitted. */
export const tryOut = (asker: Asker, spec: JobRequest, signal?: AbortSignal): Promise<DryRun> =>
  asker.ask<DryRun>('jobs', {
    method: 'POST',
    query: { dry_run: true, ...QUIET },
    body: spec,
    ...(signal ? { signal } : {})
  });

/** What `kubectl apply` makes the same job from; nothing is submitted. */
export const manifestOf = async (asker: Asker, spec: JobRequest): Promise<string> => {
  const query = { dry_run: '1', manifest: '1' };
  return (await asker.ask<DryRun>('jobs', { method: 'POST', query, body: spec })).manifest ?? '';
};

/** The machines: of one cluster, or of all. */
export const clusterPage = (asker: Asker, cluster: string | null = null): Promise<ClusterPage> =>
  look(asker, 'cluster', { cluster });

export const queues = (asker: Asker): Promise<ReadonlyArray<ShownQueue>> => look(asker, 'queues');

export const templates = (asker: Asker): Promise<ReadonlyArray<Template>> => asker.ask('templates');

/** Keep a template, replacing an older one of that name. */
export const saveTemplate = (asker: Asker, name: string, template: NewTemplate): Promise<Template> =>
  asker.ask<Template>(`templates/${name}`, { method: 'PUT', body: template });

/** The environments of this machine; whoever asked is told of news for a minute. */
export const kernels = (asker: Asker): Promise<ReadonlyArray<ShownKernel>> => look(asker, 'kernels');

/** Make a kernel of an environment: for everybody, or for this user alone. */
export const registerKernel = (asker: Asker, which: string, scope: 'global' | 'user'): Promise<unknown> =>
  asker.ask('kernels/register', { method: 'POST', body: { which, scope } });

/** Remove the kernels of an environment; the environment itself is left alone. */
export const unregisterKernel = (asker: Asker, which: string): Promise<unknown> =>
  asker.ask('kernels/unregister', { method: 'POST', body: { which } });

/** How much disk an environment takes; given up on the server, too. */
export const kernelSize = (asker: Asker, which: string, signal: AbortSignal): Promise<KernelSize> =>
  asker.ask<KernelSize>('kernels/size', { method: 'POST', body: { which }, signal });

/** One environment, with what its own Python has to say. */
export const examineKernel = (asker: Asker, which: string): Promise<ShownKernel> =>
  asker.ask<ShownKernel>('kernels/doctor', { method: 'POST', body: { which } });
