import { DisposableDelegate, type IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';

import type { Fix, FixRequest, Job, JobRequest, UsagePage } from './api';
import { isLogin, Unanswered } from './errors';
import { QUIET } from './requests';
import type { IAnswer, IJobManager, IRequest, Link, Patch, Query, ServerMove } from './tokens';
import { parseJob, parseMessage, WireError, type ICluster, type IHealth, type IIdleKernel, type IJob, type Message } from './wire';

/** What the manager needs of a websocket. */
export type Socket = Pick<WebSocket, 'onmessage' | 'onclose' | 'close'>;

/** What the manager needs of the server; a test passes its own. */
export interface IServer {
  /** A new connection that begins with a snapshot of all jobs. */
  openStream(): Socket;
  /** What the server says of itself and its clusters. */
  health(): Promise<IHealth>;
  /** Ask a route below `aiarts/`. */
  ask(path: string, request?: IRequest): Promise<unknown>;
  read(path: string, request?: IRequest): Promise<IAnswer>;
  fetch(path: string, request?: IRequest): Promise<Response>;
  url(path: string, query?: Query): string;
  /** By how many milliseconds the server's clock is ahead. */
  readonly clockOffset: number;
}

/** The server looks at its machine for a minute after each question; asked again a little before that is over. */
const USAGE_PERIOD = 45_000;

/** Milliseconds without a sign of life after which the connection may be dead: the server gives one every minute. */
const SLEEP = 180_000;

/** Milliseconds without a word on a new connection after which the picture is said to be old. */
const SILENCE = 15_000;

/** Milliseconds for which a silent connection is waited for after that: ten thousand jobs on a slow line take a while. */
const PATIENCE = 60_000;

/** What a browser says when somebody comes back, or the network does. */
const WAKING = ['focus', 'online', 'pageshow'] as const;

/** Milliseconds before try number `attempt` (from 0): 0.5, 1, 2, 4 … 30 s. */
export function retryDelay(attempt: number): number {
  return Math.min(30_000, 500 * 2 ** attempt);
}

/**
 * Holds the jobs that `aiarts/stream` tells about and keeps that connection up.
 * Built once by the manager plugin.
 */
export class JobManager implements IJobManager {
  /** Connects at once, or after `ready`: while JupyterLab starts, its own questions come first. */
  constructor(
    private readonly _server: IServer,
    ready: Promise<unknown> | null = null
  ) {
    if (ready === null) {
      this._connect();
    } else {
      void ready.then(() => this._disposed || this._connect());
    }
    WAKING.forEach(event => window.addEventListener(event, this._wake));
    document.addEventListener('visibilitychange', this._wake);
  }

  readonly changed: Signal<IJobManager, void> = new Signal<IJobManager, void>(this);

  readonly kernelsChanged: Signal<IJobManager, void> = new Signal<IJobManager, void>(this);

  readonly usageChanged: Signal<IJobManager, void> = new Signal<IJobManager, void>(this);

  /** Sorted when somebody reads, not with every message: bursts are many and readers few. */
  get jobs(): ReadonlyArray<IJob> {
    this._sorted ??= [...this._jobs.values()].sort(newestFirst);
    return this._sorted;
  }

  get idleKernels(): ReadonlyArray<IIdleKernel> {
    return this._idleKernels;
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

  job(id: string): IJob | undefined {
    return this._jobs.get(id);
  }

  now(): number {
    return Date.now() + this._server.clockOffset;
  }

  get usage(): UsagePage | null {
    return this._usage;
  }

  /** Any number of watchers cost one question now and then; what is seen comes on the stream. */
  watchUsage(): IDisposable {
    this._watchers += 1;
    if (this._watchers === 1) {
      void this._askUsage();
      this._usageTimer = window.setInterval(() => {
        this._wake();
        void this._askUsage();
      }, USAGE_PERIOD);
    }
    return new DisposableDelegate(() => {
      this._watchers -= 1;
      if (this._watchers === 0) {
        window.clearInterval(this._usageTimer);
        this._usage = null;
      }
    });
  }

  check(): void {
    this._wake();
  }

  async ask<T>(path: string, request?: IRequest): Promise<T> {
    return (await this._trusted(this._server.ask(path, request))) as T;
  }

  read(path: string, request?: IRequest): Promise<IAnswer> {
    return this._trusted(this._server.read(path, request));
  }

  fetch(path: string, request?: IRequest): Promise<Response> {
    return this._trusted(this._server.fetch(path, request));
  }

  url(path: string, query?: Query): string {
    return this._server.url(path, query);
  }

  async submit(spec: JobRequest): Promise<Job> {
    return this._shown(this.ask<Job>('jobs', { method: 'POST', body: spec }));
  }

  async act(id: string, move: ServerMove): Promise<Job> {
    return this._shown(this.ask<Job>(`jobs/${id}/${move}`, { method: 'POST', body: {} }));
  }

  async edit(id: string, patch: Patch): Promise<Job> {
    return this._shown(this.ask<Job>(`jobs/${id}`, { method: 'PATCH', body: patch }));
  }

  async fix(id: string, request: FixRequest): Promise<Fix> {
    const before = this._told;
    const fix = await this.ask<Fix>(`jobs/${id}/explain`, { method: 'POST', body: request });
    if (fix.done) {
      this._showing(fix.job, before);
    }
    return fix;
  }

  async remove(id: string): Promise<string> {
    const before = this._told;
    const left = await this.ask<string>(`jobs/${id}`, { method: 'DELETE' });
    if (!this._isToldSince(id, before)) {
      this._jobs.delete(id); // else it may be stopping still, and the stream says when it is gone
      this._tell();
    }
    return left;
  }

  /** Close the connection for good; called when the page goes. */
  dispose(): void {
    this._disposed = true;
    window.clearTimeout(this._timer);
    window.clearTimeout(this._healthTimer);
    window.clearInterval(this._usageTimer);
    WAKING.forEach(event => window.removeEventListener(event, this._wake));
    document.removeEventListener('visibilitychange', this._wake);
    this._socket?.close();
    Signal.clearData(this);
  }

  /**
   * After a sleep, or a change of networks, the connection may be dead without anybody having said so, and the picture old:
   * a new one begins with a snapshot. The old picture stays until then; if nobody answers it is stale, as always.
   */
  private readonly _wake = (): void => {
    // Only the stream itself says that it lives: not our own clock, nor a tab that nobody looks at.
    if (Date.now() - this._felt > SLEEP && !document.hidden && this._link.state === 'live') {
      this._felt = Date.now();
      this._renew();
    }
  };

  /** Whoever leaves a question unanswered may have left the stream too, without a word: a new one is opened. */
  private async _trusted<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      if (error instanceof Unanswered && this._hasSpoken) {
        this._renew();
      }
      throw error;
    }
  }

  /** Another connection instead of the one that is there; between two, the next is on its way already. */
  private _renew(): void {
    if (this._socket !== null && !this._disposed) {
      this._socket.onclose = null;
      this._socket.onmessage = null;
      this._socket.close();
      this._connect();
    }
  }

  private _connect(): void {
    const socket = this._server.openStream();
    socket.onmessage = (event: MessageEvent<string>) => this._receive(event.data);
    socket.onclose = () => this._lose();
    this._socket = socket;
    this._hasSpoken = false;
    window.clearTimeout(this._timer);
    this._timer = window.setTimeout(() => {
      this._outdate();
      this._timer = window.setTimeout(() => this._renew(), PATIENCE);
    }, SILENCE);
  }

  /** A broken message ends the connection: the next one starts with a whole snapshot. */
  private _receive(text: string): void {
    this._felt = Date.now();
    this._hasSpoken = true;
    window.clearTimeout(this._timer);
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
    this._told += 1;
    switch (message.type) {
      case 'snapshot':
        this._jobs.clear();
        this._idleKernels = message.idle;
        this._toldOf.clear();
        this._toldAll = this._told;
        this._link = { state: 'live' };
        this._attempt = 0;
        this._put(message.jobs);
        void this._askHealth();
        if (this._watchers > 0) {
          void this._askUsage();
        }
        break;
      case 'jobs':
        this._put(message.jobs);
        message.jobs.forEach(({ id }) => this._toldOf.set(id, this._told));
        break;
      case 'removed':
        message.ids.forEach(id => this._jobs.delete(id));
        message.ids.forEach(id => this._toldOf.set(id, this._told));
        break;
      case 'health':
        this._toldHealth += 1;
        this._learn(message);
        break;
      case 'idle':
        this._idleKernels = message.kernels;
        break;
      case 'kernels':
        this.kernelsChanged.emit();
        return;
      case 'usage':
        this._look(message.usage);
        return;
      case 'other':
        return;
    }
    this._tell();
  }

  /** Asked with every snapshot: behind a new connection may be a new server. */
  private async _askHealth(attempt = 0): Promise<void> {
    const [socket, told] = [this._socket, this._toldHealth];
    try {
      const health = await this._server.health();
      // What the stream has told of the clusters since the question is newer than the answer.
      this._learn(told === this._toldHealth ? health : { ...health, clusters: null });
    } catch (error) {
      console.warn('jupyter-aiarts: the health of the server is unknown', error);
      window.clearTimeout(this._healthTimer);
      this._healthTimer = window.setTimeout(() => socket === this._socket && void this._askHealth(attempt + 1), retryDelay(attempt));
      return;
    }
    this._tell();
  }

  private async _askUsage(): Promise<void> {
    try {
      this._look(await this.ask<UsagePage>('usage', { query: QUIET }));
    } catch (error) {
      console.warn('jupyter-aiarts: what this machine does is unknown', error);
    }
  }

  private _look(usage: UsagePage): void {
    if (this._watchers > 0) {
      this._usage = usage;
      this.usageChanged.emit();
    }
  }

  private async _shown(answer: Promise<Job>): Promise<Job> {
    const before = this._told;
    return this._showing(await answer, before);
  }

  /**
   * An answer is shown at once; the stream says the same a moment later. Where the stream has told of the job since the
   * question was asked (`before`), the answer may be the older one, and nobody would correct it.
   */
  private _showing(job: Job, before: number): Job {
    if (!this._isToldSince(job.id, before)) {
      this._put([parseJob(job)]);
      this._tell();
    }
    return job;
  }

  private _isToldSince(id: string, before: number): boolean {
    return Math.max(this._toldAll, this._toldOf.get(id) ?? 0) > before;
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
    this._socket = null;
    window.clearTimeout(this._timer);
    this._timer = window.setTimeout(() => this._connect(), retryDelay(this._attempt));
    this._attempt += 1;
    this._outdate();
    void this._askWhy();
  }

  /** What is shown is no longer what is. */
  private _outdate(): void {
    if (this._link.state === 'live') {
      this._link = { state: 'stale', since: new Date() };
    } else if (this._link.state === 'connecting') {
      this._link = { state: 'absent' };
    }
    this._tell();
  }

  /** A stream is refused without a word; a question is told whether it is for want of a login. */
  private async _askWhy(): Promise<void> {
    const error: unknown = await this._server.health().then(
      () => null,
      (failure: unknown) => failure
    );
    const { state } = this._link;
    if (!this._disposed && (state === 'stale' || state === 'absent') && isLogin(error) !== (this._link.needsLogin ?? false)) {
      const { needsLogin: _, ...link } = this._link;
      this._link = isLogin(error) ? { ...link, needsLogin: true } : link;
      this._tell();
    }
  }

  private _tell(): void {
    this._sorted = null;
    this.changed.emit();
  }

  private _attempt = 0;
  private _clusters: ReadonlyArray<ICluster> = [];
  private _disposed = false;
  private _felt = Date.now();
  /** Whether anything came on this connection: one that is new is no better than another new one. */
  private _hasSpoken = false;
  private _healthTimer = 0;
  private _idleKernels: ReadonlyArray<IIdleKernel> = [];
  private _jobs = new Map<string, IJob>();
  /** Messages of the stream so far; which of them was the last about a job, and the last about all. */
  private _told = 0;
  private readonly _toldOf = new Map<string, number>();
  private _toldAll = 0;
  private _toldHealth = 0;
  private _link: Link = { state: 'connecting' };
  private _serverVersion: string | null = null;
  private _socket: Socket | null = null;
  private _sorted: ReadonlyArray<IJob> | null = null;
  private _timer = 0;
  private _usage: UsagePage | null = null;
  private _usageTimer = 0;
  private _watchers = 0;
}

/** RFC 3339 UTC times of one format compare as text, byte by byte; the id keeps equal times in a steady order. */
function newestFirst(left: IJob, right: IJob): number {
  if (left.created !== right.created) {
    return left.created < right.created ? 1 : -1;
  }
  return left.id < right.id ? -1 : 1;
}
