import type { IServer, Socket } from '../manager';
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

  health(): Promise<IHealth> {
    return Promise.resolve(this.said);
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
    created: '2026-11-16T01:02:03.456789Z',
    explanation: null,
    ...changes
  };
}
