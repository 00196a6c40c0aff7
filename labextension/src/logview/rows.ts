import { lastState } from './ansi';
import { columns, type ILogLine, type IRow } from './line';

/** Rows kept at once; what a reader scrolls away from is asked for again. */
export const MOST_ROWS = 20_000;
/** Characters kept at once: lines may have 64 KiB each. */
export const MOST_CHARACTERS = 16_000_000;
/** Characters of a line that is put together from pieces; what goes on after that is a row of its own. */
const LONGEST = 128 * 1024;

/**
 * A window of a log: rows in order, without a gap, bounded. Pieces of one line are one row, so a progress bar that
 * never ends its line stays one; with `fold`, so are equal lines of one rank that follow each other.
 * Held by `LogModel`, drawn by the view.
 */
export class Rows {
  constructor(
    private readonly _most = MOST_ROWS,
    private readonly _mostCharacters = MOST_CHARACTERS
  ) {}

  fold = false;

  get all(): ReadonlyArray<IRow> {
    return this._rows;
  }

  /** The cursor that everything older is before; empty without rows. */
  get oldest(): string {
    return this._rows[0]?.first ?? '';
  }

  /** The cursor that everything newer is after; empty without rows. */
  get newest(): string {
    return this._newest;
  }

  /** Where the row with this id is, or was until it was dropped: below 0. */
  indexOf(id: number): number {
    return this._rows[0] === undefined ? -1 : id - this._rows[0].id;
  }

  clear(): void {
    this._rows = [];
    this._open.clear();
    this._characters = 0;
    this._newest = '';
  }

  /** Newer lines; older rows go when there are too many. Answers how many rows were added at the end. */
  append(lines: ReadonlyArray<ILogLine>): number {
    const before = this._end;
    lines.forEach(line => this._put(line));
    this._newest = lines[lines.length - 1]?.seq || this._newest;
    const added = this._end - before;
    this._dropOldest();
    return added;
  }

  /** Older lines; newer rows go when there are too many. Answers whether any went. */
  prepend(lines: ReadonlyArray<ILogLine>): boolean {
    const older = new Rows(Infinity, Infinity);
    older.fold = this.fold;
    older.append(lines);
    const start = (this._rows[0]?.id ?? this._end) - older._rows.length;
    const rows = older._rows.map((row, index) => ({ ...row, id: start + index }));
    if (this._rows.length === 0) {
      this._newest = older._newest;
      this._end = start + rows.length;
    }
    this._rows = [...rows, ...this._rows];
    this._characters += older._characters;
    return this._dropNewest();
  }

  private _put(line: ILogLine): void {
    if (!line.more && this._open.size === 0) {
      this._putNew(line); // as almost every line
      return;
    }
    const key = `${line.node} ${line.rank} ${line.stream}`;
    const opened = this._open.get(key);
    const row = opened === undefined ? undefined : this._rows[this.indexOf(opened)];
    if (row && row.text.length < LONGEST) {
      this._replace(row, { ...line, text: continued(row.text, line.text) });
    } else {
      this._putNew(line);
    }
    if (line.more) {
      this._open.set(key, row && row.text.length < LONGEST ? row.id : this._end - 1);
    } else {
      this._open.delete(key);
    }
  }

  private _putNew(line: ILogLine): void {
    const last = this._rows[this._rows.length - 1];
    if (this.fold && last && repeats(last, line)) {
      this._replace(last, { ...line, folded: last.folded + line.folded + 1 });
      return;
    }
    this._rows.push(rowOf(line, this._end, line.seq));
    this._end += 1;
    this._characters += line.text.length;
  }

  /** Another object for the same row, so that whoever holds the old one sees that it changed. */
  private _replace(row: IRow, by: ILogLine): void {
    this._rows[this.indexOf(row.id)] = rowOf(by, row.id, row.first);
    this._characters += by.text.length - row.text.length;
  }

  private _dropOldest(): void {
    const tooMany = this._rows.length - this._most;
    let drop = 0;
    while (drop < tooMany || (this._characters > this._mostCharacters && drop < this._rows.length - 1)) {
      this._characters -= this._rows[drop]?.text.length ?? 0;
      drop += 1;
    }
    this._rows.splice(0, drop);
  }

  private _dropNewest(): boolean {
    let keep = this._rows.length;
    while (keep > this._most || (this._characters > this._mostCharacters && keep > 1)) {
      keep -= 1;
      this._characters -= this._rows[keep]?.text.length ?? 0;
    }
    if (keep === this._rows.length) {
      return false;
    }
    this._rows.length = keep;
    this._end = (this._rows[keep - 1]?.id ?? -1) + 1;
    this._newest = this._rows[keep - 1]?.seq ?? '';
    this._open.clear();
    return true;
  }

  private _characters = 0;
  private _end = 0;
  private _newest = '';
  private readonly _open = new Map<string, number>();
  private _rows: IRow[] = [];
}

/** Written out because thousands are made in a second. */
function rowOf(line: ILogLine, id: number, first: string): IRow {
  const { seq, t, node, rank, stream, text, more, folded, harmless } = line;
  return { id, first, seq, t, node, rank, stream, text, more, folded, harmless, columns: columns(text) };
}

/** A rewritten line keeps only what can still be seen: a bar that runs for a day must not grow for a day. */
function continued(text: string, more: string): string {
  const whole = text + more;
  if (!more.includes('\r') && !text.endsWith('\r')) {
    return whole;
  }
  const state = lastState(whole);
  return whole.endsWith('\r') ? `${state}\r` : state;
}

function repeats(row: IRow, line: ILogLine): boolean {
  return (
    !row.more &&
    !line.more &&
    row.text === line.text &&
    row.rank === line.rank &&
    row.stream === line.stream &&
    row.node === line.node
  );
}
