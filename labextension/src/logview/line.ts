/**
 * A log line as the server writes it, and as a row of the view.
 */
import { WireError } from '../wire';
import { lastState, plain } from './ansi';

/** A line of `jobs/{id}/logs`. */
export interface ILogLine {
  /** A cursor; empty for what the platform says while nothing was printed. */
  readonly seq: string;
  readonly t: string;
  readonly node: number;
  readonly rank: number;
  readonly stream: string;
  readonly text: string;
  /** A piece of a longer line; the next piece follows. */
  readonly more: boolean;
  /** How many lines like it, before it, are not shown. */
  readonly folded: number;
  /** Which known flood it belongs to that means nothing. */
  readonly harmless: string;
}

/** One row. Ids of neighbours are neighbours, so a row is found by its id alone. */
export interface IRow extends ILogLine {
  readonly id: number;
  /** The cursor of its first piece; `seq` is the last one's. */
  readonly first: string;
  /** How many columns of a fixed-width font its text takes. Counted as it comes, for all at once would be felt. */
  readonly columns: number;
}

/** Characters of a line that a row shows before it is opened. */
export const SHOWN = 4000;

/** One line of an answer. Written out because thousands are read in a second. */
export function readLine(value: unknown): ILogLine {
  const line = value as Partial<Record<keyof ILogLine, unknown>> | null;
  if (
    typeof line !== 'object' ||
    line === null ||
    typeof line.seq !== 'string' ||
    typeof line.t !== 'string' ||
    typeof line.text !== 'string' ||
    typeof line.rank !== 'number'
  ) {
    throw new WireError(`unexpected log line: ${JSON.stringify(value).slice(0, 200)}`);
  }
  return {
    seq: line.seq,
    t: line.t,
    node: typeof line.node === 'number' ? line.node : 0,
    rank: line.rank,
    stream: typeof line.stream === 'string' ? line.stream : 'stdout',
    text: line.text,
    more: line.more === true,
    folded: typeof line.folded === 'number' ? line.folded : 0,
    harmless: typeof line.harmless === 'string' ? line.harmless : ''
  };
}

/** What names a line whichever question it answered: a cursor also says where other ranks stood, which differs. */
export function identity(seq: string): string {
  return /^[0-9a-f.]*/.exec(seq)?.[0] ?? '';
}

// CJK, kana, hangul and full-width forms take two columns of a fixed-width font; so do emoji, which are two of these.
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/g;
const TAB = 8;
/** What most lines are made of: nothing that is hidden, wide or rewritten. */
const SIMPLE = /^[ -~]*$/;

/** How many columns are shown of a text. */
export function columns(text: string): number {
  const state = lastState(text).slice(0, SHOWN);
  if (SIMPLE.test(state)) {
    return state.length;
  }
  const [first = '', ...others] = plain(state).split('\t').map(part => part.length + (part.match(WIDE)?.length ?? 0));
  return others.reduce<number>((column, part) => column + TAB - (column % TAB) + part, Number(first));
}

/** The local time of day with milliseconds, or the text itself where it is no time. */
export function clockTime(t: string): string {
  const date = new Date(t);
  if (Number.isNaN(date.getTime())) {
    return t;
  }
  const two = (number: number): string => String(number).padStart(2, '0');
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  return `${clock}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}
