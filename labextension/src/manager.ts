import { Signal } from '@lumino/signaling';

import type { IJobManager, Link } from './tokens';
import { parseMessage, WireError, type ICluster, type IHealth, type IJob, type Message } from './wire';

/** What the manager needs of a websocket. */
export type Socket = Pick<WebSocket, 'onmessage' | 'onclose' | 'close'>;

/** What the manager needs of the server; a test passes its own. */
export interface IServer {
  /** A new connection that begins with a snapshot of all jobs. */
  openStream(): Socket;
  /** What the server says of itself and its clusters. */
  health(): Promise<IHealth>;
}

/** Milliseconds before try number `attempt` (from 0): 0.5, 1, 2, 4 … 30 s. */
export function retryDelay(attempt: number): number {
  return Math.min(30_000, 500 * 2 ** attempt);
}

/**
 * Holds the jobs that `aiarts/stream` tells about and keeps that connection up.
 * Built once by the manager plugin.
 */
export class JobManager implements IJobManager {
  constructor(private readonly _server: IServer) {
    this._connect();
  }

  readonly changed: Signal<IJobManager, void> = new Signal<IJobManager, void>(this);

  get jobs(): ReadonlyArray<IJob> {
    return this._sorted;
  }

  get link(): Link {
    return this._link;
  }

  get serverVersion(): string | null {
    return this._serverVersion;
  }

  get clusters(): ReadonlyArray<ICluster> {
    return this._clusters;
  }

  get away(): ReadonlyArray<ICluster> {
    return this._clusters.filter(cluster => cluster.staleSince !== null);
  }

  isMine(job: IJob): boolean {
    const cluster = this._clusters.find(({ name }) => name === job.cluster);
    return cluster !== undefined && (cluster.owner === null || cluster.owner === job.owner);
  }

  /** Close the connection for good; called when the page goes. */
  dispose(): void {
    this._disposed = true;
    window.clearTimeout(this._timer);
    this._socket?.close();
    Signal.clearData(this);
  }

  private _connect(): void {
    const socket = this._server.openStream();
    socket.onmessage = (event: MessageEvent<string>) => this._receive(event.data);
    socket.onclose = () => this._lose();
    this._socket = socket;
  }

  /** A broken message ends the connection: the next one starts with a whole snapshot. */
  private _receive(text: string): void {
    try {
      this._apply(parseMessage(text));
    } catch (error) {
      if (!(error instanceof WireError)) {
        throw error;
      }
      console.warn(`jupyter-aiarts: ${error.message}`);
      this._socket?.close();
    }
  }

  private _apply(message: Message): void {
    switch (message.type) {
      case 'snapshot':
        this._jobs.clear();
        this._link = { state: 'live' };
        this._attempt = 0;
        this._put(message.jobs);
        void this._askHealth();
        break;
      case 'jobs':
        this._put(message.jobs);
        break;
      case 'removed':
        message.ids.forEach(id => this._jobs.delete(id));
        break;
      case 'health':
        this._learn(message);
        break;
      case 'other':
        return;
    }
    this._tell();
  }

  /** Asked with every snapshot: behind a new connection may be a new server. */
  private async _askHealth(): Promise<void> {
    try {
      this._learn(await this._server.health());
    } catch (error) {
      console.warn('jupyter-aiarts: the health of the server is unknown', error);
      return;
    }
    this._tell();
  }

  private _learn(health: IHealth): void {
    this._serverVersion = health.version ?? this._serverVersion;
    this._clusters = health.clusters ?? this._clusters;
  }

  private _put(jobs: ReadonlyArray<IJob>): void {
    jobs.forEach(job => this._jobs.set(job.id, job));
  }

  private _lose(): void {
    if (this._disposed) {
      return;
    }
    if (this._link.state === 'live') {
      this._link = { state: 'stale', since: new Date() };
    } else if (this._link.state === 'connecting') {
      this._link = { state: 'absent' };
    }
    this._timer = window.setTimeout(() => this._connect(), retryDelay(this._attempt));
    this._attempt += 1;
    this._tell();
  }

  private _tell(): void {
    this._sorted = [...this._jobs.values()].sort(newestFirst);
    this.changed.emit();
  }

  private _attempt = 0;
  private _clusters: ReadonlyArray<ICluster> = [];
  private _disposed = false;
  private _jobs = new Map<string, IJob>();
  private _link: Link = { state: 'connecting' };
  private _serverVersion: string | null = null;
  private _socket: Socket | null = null;
  private _sorted: ReadonlyArray<IJob> = [];
  private _timer = 0;
}

/** RFC 3339 UTC times of one format compare as text; the id keeps equal times in a steady order. */
function newestFirst(left: IJob, right: IJob): number {
  return right.created.localeCompare(left.created) || left.id.localeCompare(right.id);
}
