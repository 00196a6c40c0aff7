import type { ILogLine } from '../logview/line';
import { BEGINNING } from '../logview/model';
import type { ILogQuery, ILogSource, IPage } from '../logview/source';

/** Line number `n` of a log, with what the test is about. */
export function logLine(n: number, changes: Partial<ILogLine> = {}): ILogLine {
  const place = n.toString(16);
  return {
    seq: `${place}.0.0.${place}.1`,
    t: new Date(1_800_000_000_000 + n).toISOString(),
    node: 0,
    rank: 0,
    stream: 'stdout',
    text: `line ${n}`,
    more: false,
    folded: 0,
    harmless: '',
    ...changes
  };
}

/** A log in memory that answers as the server does, and whose stream the test feeds. */
export class FakeLog implements ILogSource {
  constructor(public lines: ILogLine[] = []) {}

  readonly asked: ILogQuery[] = [];
  streams = 0;
  silence: string | null = null;
  broken: Error | null = null;

  page(query: ILogQuery): Promise<IPage> {
    this.asked.push(query);
    if (this.broken) {
      return Promise.reject(this.broken);
    }
    const grep = query.grep ? new RegExp(query.grep.replace('(?i:', '(?:')) : /(?:)/;
    const at = (seq: string): number => this.lines.findIndex(line => line.seq === seq);
    const limit = query.limit ?? 1000;
    const before = query.before === undefined ? this.lines : this.lines.slice(0, at(query.before));
    const after = query.after === undefined || query.after === BEGINNING ? before : before.slice(at(query.after) + 1);
    const found = after.filter(line => grep.test(line.text));
    const lines =
      query.after === undefined
        ? found.slice(-(query.before === undefined ? (query.tail ?? 1000) : limit))
        : found.slice(0, limit);
    return Promise.resolve({ lines, silence: this.lines.length > 0 ? null : this.silence });
  }

  /** New lines for whoever follows. */
  print(...lines: ILogLine[]): void {
    this.lines.push(...lines);
    this._wake();
  }

  /** The run is over. */
  end(): void {
    this._ended = true;
    this._wake();
  }

  /** The connection breaks once. */
  cut(): void {
    this._cut = true;
    this._wake();
  }

  async *follow(query: ILogQuery, signal: AbortSignal): AsyncGenerator<ReadonlyArray<ILogLine>> {
    this.streams += 1;
    let place = query.after === undefined ? 0 : this.lines.findIndex(line => line.seq === query.after) + 1;
    signal.addEventListener('abort', () => this._wake());
    if (this.broken) {
      throw this.broken;
    }
    yield [];
    for (;;) {
      if (signal.aborted) {
        throw new Error('aborted');
      }
      if (this._cut) {
        this._cut = false;
        throw new Error('connection lost');
      }
      if (place < this.lines.length) {
        const some = this.lines.slice(place, place + 5000);
        place += some.length;
        yield some;
      } else if (this._ended) {
        return;
      } else {
        await this._news;
      }
    }
  }

  fileUrl(query: ILogQuery): string {
    return `file?rank=${query.rank ?? ''}`;
  }

  private _cut = false;
  private _ended = false;
  private _wake: () => void = () => undefined;
  private _news = this._next();

  private _next(): Promise<void> {
    return new Promise(resolve => {
      this._wake = () => {
        this._news = this._next();
        resolve();
      };
    });
  }
}
