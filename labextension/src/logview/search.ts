import type { ILogLine } from './line';
import { identity } from './line';
import type { ILogQuery, IPage } from './source';

/** Found lines that are counted; a log with more says "more than". */
export const MOST_FOUND = 10_000;

/** What most frameworks write when something goes wrong; RE2, for the server. */
export const ERROR = String.raw`Traceback \(most recent|\b\w*(?:Error|Exception)\b|\b(?:ERROR|FATAL|CRITICAL|Segmentation fault|core dumped)\b|\bE\d{4} |(?i:\b(?:error|fatal)\b ?:)`;

/** What was looked for in a log, what was found, and at which of it the reader is; the server does the looking. */
export class Search {
  constructor(
    private readonly _page: (query: ILogQuery) => Promise<IPage>,
    private readonly _changed: () => void
  ) {}

  pattern = '';
  busy = false;
  failure: unknown = null;

  get found(): ReadonlyArray<ILogLine> {
    return this._found;
  }

  /** Whether there are more matches than were counted, all of them older. */
  get isMore(): boolean {
    return this._isMore;
  }

  /** Which match the reader is at, from 0; -1 before the first step. */
  get at(): number {
    return this._at;
  }

  isFound(seq: string): boolean {
    return this._names.has(identity(seq));
  }

  /** The pattern if it means itself: only then can a part of a line be marked without running it in the page. */
  get literal(): string | null {
    return this.pattern !== '' && !/[\\^$.*+?()[\]{}|]/.test(this.pattern) ? this.pattern : null;
  }

  clear(): void {
    this._asked += 1;
    this.pattern = '';
    this.busy = false;
    this._keep([]);
  }

  /** Look for a pattern in the whole log; the last question wins. */
  async look(pattern: string): Promise<void> {
    this.clear();
    this.pattern = pattern;
    if (pattern === '') {
      this._changed();
      return;
    }
    await this._ask({ grep: pattern, tail: MOST_FOUND + 1 }, lines => this._keep(lines)); // one more says whether there are more
  }

  /** Look for the same pattern in what was printed since; the reader stays at the match where they are. */
  async lookOn(): Promise<void> {
    const newest = this._found[this._found.length - 1];
    if (newest === undefined) {
      await this.look(this.pattern);
      return;
    }
    await this._ask({ grep: this.pattern, after: newest.seq, limit: MOST_FOUND }, lines => {
      const [all, at, wasMore] = [[...this._found, ...lines], this._at, this._isMore];
      this._keep(all);
      this._isMore ||= wasMore;
      this._at = Math.max(-1, at - (all.length - this._found.length));
    });
  }

  private async _ask(query: ILogQuery, then: (lines: ReadonlyArray<ILogLine>) => void): Promise<void> {
    const asked = this._asked;
    this.busy = true;
    this._changed();
    try {
      const { lines } = await this._page(query);
      this._settle(asked, () => then(lines));
    } catch (error) {
      this._settle(asked, () => (this.failure = error));
    }
  }

  /** The next match, or the one before; begins with the newest, goes round. */
  step(by: 1 | -1): ILogLine | null {
    const count = this._found.length;
    if (count === 0) {
      return null;
    }
    this._at = this._at < 0 ? count - 1 : (this._at + by + count) % count;
    this._changed();
    return this._found[this._at] ?? null;
  }

  private _settle(asked: number, then: () => void): void {
    if (asked === this._asked) {
      this.busy = false;
      then();
      this._changed();
    }
  }

  private _keep(lines: ReadonlyArray<ILogLine>): void {
    this._isMore = lines.length > MOST_FOUND;
    this._found = lines.slice(-MOST_FOUND);
    this._names = new Set(this._found.map(line => identity(line.seq)));
    this._at = -1;
    this.failure = null;
  }

  private _asked = 0;
  private _at = -1;
  private _found: ReadonlyArray<ILogLine> = [];
  private _isMore = false;
  private _names: ReadonlySet<string> = new Set();
}
