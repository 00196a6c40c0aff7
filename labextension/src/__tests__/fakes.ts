import type { IServer, Socket } from '../manager';
import type { IAnswer, IRequest, Query } from '../tokens';
import type { IHealth, IJob } from '../wire';

/** The server's end of one connection: a test speaks and hangs up through it. */
export class FakeSocket implements Socket {
  onmessage: Socket['onmessage'] = null;
  onclose: Socket['onclose'] = null;
  closed = false;

  close(): void {
    this.closed = true;
    this.hangUp();
  }

  say(message: object | string): void {
    const data = typeof message === 'string' ? message : JSON.stringify(message);
    this.onmessage?.call(this as unknown as WebSocket, new MessageEvent('message', { data }));
  }

  hangUp(): void {
    this.onclose?.call(this as unknown as WebSocket, new CloseEvent('close'));
  }
}

/** A server whose connections and health the test sets. */
export class FakeServer implements IServer {
  readonly sockets: FakeSocket[] = [];
  said: IHealth = { version: null, clusters: null };

  /** The connection that is up now. */
  get socket(): FakeSocket {
    return this.sockets[this.sockets.length - 1]!;
  }

  openStream(): Socket {
    this.sockets.push(new FakeSocket());
    return this.socket;
  }

  /** What the question for its health fails with, if it does. */
  refusal: Error | null = null;

  health(): Promise<IHealth> {
    return this.refusal ? Promise.reject(this.refusal) : Promise.resolve(this.said);
  }

  /** What was asked, newest last, and what to answer. */
  readonly asked: Array<{ readonly path: string; readonly request: IRequest }> = [];
  answers: (path: string, request: IRequest) => unknown = () => null;
  clockOffset = 0;

  async ask(path: string, request: IRequest = {}): Promise<unknown> {
    this.asked.push({ path, request });
    return this.answers(path, request);
  }

  async read(path: string, request: IRequest = {}): Promise<IAnswer> {
    return { text: JSON.stringify(await this.ask(path, request)), headers: { get: () => null } };
  }

  /** jsdom has no responses: one with what the reader of a log needs. */
  async fetch(path: string, request: IRequest = {}): Promise<Response> {
    const text = JSON.stringify(await this.ask(path, request));
    return { text: async () => text, headers: { get: () => null }, body: null } as unknown as Response;
  }

  url(path: string, query: Query = {}): string {
    return `${path}?${Object.keys(query).join('&')}`;
  }
}

/** A job as the server writes it, with what the test is about. */
export function job(id: string, changes: Partial<IJob> = {}): IJob {
  return {
    id,
    name: `job ${id}`,
    cluster: 'local',
    owner: 'alice',
    phase: 'running',
    run: 1,
    created: '2026-11-16T01:02:03.456789Z',
    started: null,
    ended: null,
    explanation: null,
    moves: [],
    spec: { kind: 'regular', device: 'cpu', devices: 0, nodes: 1, image: null, queue: null, priority: 5, script: 'train.py' },
    ...changes
  };
}
