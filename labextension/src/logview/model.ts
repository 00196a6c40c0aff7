import { Signal } from '@lumino/signaling';

import { identity, type ILogLine, type IRow } from './line';
import { Rows } from './rows';
import { ERROR, Search } from './search';
import type { ILogQuery, ILogSource } from './source';
import { nextFrame, Tail, type Frame } from './tail';

/** Lines of one answer. */
export const PAGE = 1000;
/** A cursor before every line: no time, no rank, no place. */
export const BEGINNING = '0.0.0.0.0';
/** While a reader looks at older rows, so many new ones are collected before the stream is let go. */
const MOST_UNSEEN = 10_000;

/**
 * A log as one view shows it: a window of rows that follows the end until its reader goes somewhere else.
 * It takes new lines once per drawn frame and asks for no more before that, so a fast log waits in the server's
 * files and never in this page. Made with a job page, and told by it when it is seen.
 */
export class LogModel {
  constructor(
    private readonly _source: ILogSource,
    frame: Frame = nextFrame
  ) {
    this.search = new Search(
      query => _source.page({ ...this._query, ...query, fold: false }),
      () => this._tell()
    );
    this._tail = new Tail(signal => this._next(signal), frame, {
      answered: () => this._say(null),
      came: lines => this._take(lines),
      slept: () => this._wake(),
      broke: error => this._say(error),
      ended: () => this._end()
    });
  }

  readonly changed: Signal<this, void> = new Signal<this, void>(this);
  readonly search: Search;
  rank: number | null = null;
  run: number | null = null;
  fold = false;
  /** Whether new lines are to be scrolled to. */
  following = true;
  /** How many lines came since the reader stopped following. */
  unseen = 0;
  /** Whether `unseen` is only the least it can be. */
  unseenMore = false;
  /** Whether there is nothing older than the first row. */
  atStart = false;
  /** Whether there is nothing between the last row and what comes next. */
  atEnd = true;
  /** Whether the run has ended and everything was shown. */
  ended = false;
  loading = false;
  /** Why there are no lines, in the server's words. */
  silence: string | null = null;
  /** What the last question failed with; `null` when it was answered. */
  failure: unknown = null;
  /** The row that a jump went to; the view scrolls there once for each object. */
  target: { readonly id: number } | null = null;

  get rows(): ReadonlyArray<IRow> {
    return this._rows.all;
  }

  indexOf(id: number): number {
    return this._rows.indexOf(id);
  }

  get fileUrl(): string {
    return this._source.fileUrl(this._query);
  }

  /** Show this rank (`null`: all), run (`null`: the latest), folded or not, from its end. */
  async choose(choice: Partial<Pick<LogModel, 'rank' | 'run' | 'fold'>>): Promise<void> {
    Object.assign(this, choice);
    this._over = false;
    this._rows.fold = this.fold;
    this.search.clear();
    await this.toEnd();
  }

  /** The last lines, and then what comes. Also the first thing that is asked. */
  async toEnd(): Promise<void> {
    this.following = true;
    let silence: string | null = null;
    const end = async (): Promise<ReadonlyArray<ILogLine>> => {
      const page = await this._page({ tail: PAGE });
      silence = page.silence;
      return page.lines;
    };
    const isLast = await this._replace(end, page => {
      this.silence = silence;
      this.atStart = page.length === 0;
      this.atEnd = true;
    });
    if (isLast) {
      this.follow(this.following && this.atEnd); // an end that could not be had is offered again
      this._attach();
    }
  }

  async toStart(): Promise<void> {
    await this._elsewhere(
      async () => (await this._page({ after: BEGINNING, limit: PAGE })).lines,
      page => {
        this.atStart = true;
        this.atEnd = page.length < PAGE;
      }
    );
    this.target = named(this.rows[0]?.id);
    this._tell();
  }

  /** Show the line with this cursor among its neighbours. */
  async toLine(line: ILogLine): Promise<void> {
    const here = this._find(line.seq);
    if (here === null) {
      let ends = { atStart: false, atEnd: false };
      await this._elsewhere(
        async () => {
          const around = await this._around(line);
          ends = around;
          return around.lines;
        },
        () => void Object.assign(this, { atStart: ends.atStart, atEnd: ends.atEnd })
      );
    }
    this.following = false;
    this.target = named(here ?? this._find(line.seq));
    this._tell();
  }

  /** The first line that looks like an error; answers whether there is one. */
  async toFirstError(): Promise<boolean> {
    const { lines } = await this._page({ grep: ERROR, after: BEGINNING, limit: 1, fold: false });
    const first = lines[0];
    if (first === undefined) {
      return false;
    }
    await this.toLine(first);
    return true;
  }

  /** Look for a pattern in the whole log; for the same one again only where more may have been printed since. */
  async look(pattern: string): Promise<void> {
    const { search } = this;
    if (pattern !== search.pattern) {
      this._searched = this._printed;
      await search.look(pattern);
    } else if (pattern !== '' && !search.busy && (this._mayHaveGrown || search.failure !== null)) {
      this._searched = this._printed;
      await search.lookOn();
    }
  }

  /** One page before the first row; called when the reader comes near it. */
  async older(): Promise<void> {
    const { oldest } = this._rows;
    if (this.atStart || this.loading || !oldest) {
      return;
    }
    await this._load(async asked => {
      const { lines } = await this._page({ before: oldest, limit: PAGE });
      if (asked !== this._asked || this._rows.oldest !== oldest) {
        return; // between these and what is first by now there would be a hole
      }
      this.atStart = lines.length === 0;
      if (this._rows.prepend(lines)) {
        this._tail.stop();
        this.atEnd = false;
      }
    });
  }

  /** One page after the last row, where the stream was let go; called when the reader comes near it. */
  async newer(): Promise<void> {
    const { newest } = this._rows;
    if (this.atEnd || this.loading || !newest) {
      return;
    }
    await this._load(async asked => {
      const { lines } = await this._page({ after: newest, limit: PAGE });
      if (asked !== this._asked) {
        return;
      }
      this._rows.append(lines);
      this.atStart = false;
      this.atEnd = lines.length === 0;
    });
    this._attach();
  }

  /** The reader scrolled to the end, or away from it. */
  follow(on: boolean): void {
    if (on !== this.following) {
      this.following = on;
      this.unseen = 0;
      this.unseenMore = false;
      this._tell();
    }
  }

  /** The view scrolled: on the way to the end that was not its reader. `low`: the last row is in sight. */
  scrolled(low: boolean): void {
    if (this.atEnd || !this.following) {
      this.follow(this.atEnd && low);
    }
  }

  /** Whether anybody sees it: a connection is held only then, because a browser has few for a server. */
  show(seen: boolean): void {
    if (seen === this._seen) {
      return;
    }
    this._seen = seen;
    if (!seen) {
      this._tail.stop();
    } else if (!this._begun || this.following) {
      void this.toEnd();
    } else {
      this._attach();
    }
  }

  dispose(): void {
    this._disposed = true;
    this._tail.stop();
    Signal.clearData(this);
  }

  /** Whether there may be lines that the last search did not see. */
  private get _mayHaveGrown(): boolean {
    return this._printed !== this._searched || !(this._over || this._tail.isOpen);
  }

  private get _query(): ILogQuery {
    return { rank: this.rank, run: this.run, fold: this.fold };
  }

  private _page(query: ILogQuery): ReturnType<ILogSource['page']> {
    return this._source.page({ ...this._query, ...query });
  }

  private async _around(line: ILogLine): Promise<IAround> {
    const [before, after] = await Promise.all([
      this._page({ before: line.seq, limit: PAGE / 2 }),
      this._page({ after: line.seq, limit: PAGE / 2 })
    ]);
    return {
      lines: [...before.lines, line, ...after.lines],
      atStart: before.lines.length === 0,
      atEnd: after.lines.length === 0
    };
  }

  /** Leave the end: what comes there is not collected any more. */
  private async _elsewhere(
    ask: () => Promise<ReadonlyArray<ILogLine>>,
    then: (page: ReadonlyArray<ILogLine>) => void
  ): Promise<void> {
    this.following = false;
    if (await this._replace(ask, then)) {
      this._attach();
    }
  }

  /** Answers whether nobody asked for something else meanwhile: what was superseded starts no stream. */
  private async _replace(
    ask: () => Promise<ReadonlyArray<ILogLine>>,
    then: (page: ReadonlyArray<ILogLine>) => void
  ): Promise<boolean> {
    this._tail.stop();
    this._begun = true;
    this.ended = false;
    this.unseen = 0;
    this.unseenMore = false;
    const mine = (this._asked += 1);
    await this._load(async asked => {
      const lines = await ask();
      if (asked !== this._asked) {
        return;
      }
      this._rows.clear();
      this._rows.append(lines);
      then(lines);
    });
    return mine === this._asked;
  }

  private async _load(work: (asked: number) => Promise<void>): Promise<void> {
    const asked = this._asked;
    this.loading = true;
    this._tell();
    try {
      await work(asked);
      this.failure = null;
    } catch (error) {
      this.failure = error;
    } finally {
      this.loading = this.loading && asked !== this._asked;
      this._tell();
    }
  }

  /** What comes next is wanted only where nothing is missing before it. */
  private _attach(): void {
    if (this.atEnd && this._seen && !this._disposed && !this.ended) {
      this._printed += this._over || this._tail.isOpen ? 0 : 1;
      this._tail.start();
    }
  }

  /** Where the stream goes on; a run without lines begins with its last ones. */
  private _next(signal: AbortSignal): AsyncIterable<ReadonlyArray<ILogLine>> {
    const { newest } = this._rows;
    return this._source.follow({ ...this._query, ...(newest ? { after: newest } : { tail: PAGE }) }, signal);
  }

  private _take(lines: ReadonlyArray<ILogLine>): void {
    this.silence = lines.find(line => line.seq === '')?.text ?? (this.rows.length > 0 ? null : this.silence);
    const printed = lines.filter(line => line.seq !== '');
    const first = this.rows[0]?.id;
    const added = this._rows.append(printed);
    this._printed += printed.length;
    this.silence = printed.length > 0 ? null : this.silence;
    this.failure = null;
    this.atStart = this.atStart && (first === undefined || this.rows[0]?.id === first);
    if (!this.following) {
      this._pass(added);
    }
    this._tell();
  }

  /** Count what the reader does not look at; too much of it would push away what they do look at. */
  private _pass(added: number): void {
    this.unseen += added;
    if (this.unseen > MOST_UNSEEN) {
      this._tail.stop();
      this.atEnd = false;
      this.unseenMore = true;
    }
  }

  private _find(seq: string): number | null {
    const name = identity(seq);
    const row = this.rows.find(one => identity(one.seq) === name || identity(one.first) === name);
    return row?.id ?? null;
  }

  /** After a night a follower goes to the end, instead of reading all that came. */
  private _wake(): boolean {
    if (this.following) {
      void this.toEnd();
    }
    return this.following;
  }

  private _say(failure: unknown): void {
    this.failure = failure;
    this._tell();
  }

  private _end(): void {
    this.ended = true;
    this._over = true;
    this._tell();
  }

  private _tell(): void {
    if (!this._disposed) {
      this.changed.emit();
    }
  }

  private _asked = 0;
  private _begun = false;
  private _disposed = false;
  /** Whether the chosen run was ever seen to end, wherever its reader went since. */
  private _over = false;
  /** Counts what came, and each time that the stream was held anew: what came before that is not known. */
  private _printed = 0;
  private readonly _rows = new Rows();
  private _searched = 0;
  private _seen = false;
  private readonly _tail: Tail;
}

interface IAround {
  readonly lines: ReadonlyArray<ILogLine>;
  readonly atStart: boolean;
  readonly atEnd: boolean;
}

function named(id: number | null | undefined): { readonly id: number } | null {
  return id === null || id === undefined ? null : { id };
}
