/**
 * The names by which the plugins find each other.
 */
import { Token } from '@lumino/coreutils';
import type { ISignal } from '@lumino/signaling';

import type { ICluster, IJob } from './wire';

/**
 * How the picture relates to the server:
 * - `connecting`: nothing was heard yet and nothing failed yet
 * - `live`: every change arrives as it happens
 * - `stale`: it was live until `since`; the jobs are those of that moment
 * - `absent`: the server never answered on the stream
 */
export type Link =
  | { readonly state: 'connecting' }
  | { readonly state: 'live' }
  | { readonly state: 'stale'; readonly since: Date }
  | { readonly state: 'absent' };

/** The one picture of all jobs in this page; panels subscribe to `changed` and read. */
export interface IJobManager {
  /** Emitted after every change of `jobs`, `link`, `serverVersion` or `clusters`. */
  readonly changed: ISignal<IJobManager, void>;
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
}

export const IJobManager = new Token<IJobManager>(
  'jupyter-aiarts:IJobManager',
  'The live picture of all AIArts jobs.'
);

/** The widget's id in the shell; the command opens it by this name. */
export const PANEL_ID = 'jupyter-aiarts-jobs';
