/**
 * A line's escape codes as spans: colours become class names, links go to http(s) alone, and text stays text.
 * Nothing here makes markup, so nothing that a job prints can become any.
 */

/** A piece of text that looks the same all over; `look` are class names of ours, never words of the line. */
export interface ISpan {
  readonly text: string;
  readonly look: string;
  readonly link?: string;
}

interface IStyle {
  readonly fg: number | null;
  readonly bg: number | null;
  readonly marks: ReadonlySet<Mark>;
}

type Mark = 'bold' | 'dim' | 'italic' | 'underline' | 'inverse' | 'strike';

const PLAIN: IStyle = { fg: null, bg: null, marks: new Set() };
const ON: ReadonlyMap<number, Mark> = new Map([
  [1, 'bold'],
  [2, 'dim'],
  [3, 'italic'],
  [4, 'underline'],
  [7, 'inverse'],
  [9, 'strike']
]);
const OFF: ReadonlyMap<number, ReadonlyArray<Mark>> = new Map([
  [22, ['bold', 'dim']],
  [23, ['italic']],
  [24, ['underline']],
  [27, ['inverse']],
  [29, ['strike']]
]);

/*
 * In order: colours; links; other strings for the terminal (titles, clipboards …); other control sequences; what is
 * left of one that never ends, of which only the beginning goes, so that nothing is hidden; single control characters;
 * and the characters that turn the direction of what follows, which could make a line read as something else.
 * Every repetition stops at the next escape character, so the whole is linear in the text.
 */
const CODES =
  // eslint-disable-next-line no-control-regex
  /\x1b\[([0-9;:]{0,200})m|\x1b\]8;[^;\x07\x1b]{0,200};([^\x07\x1b]{0,4096})(?:\x07|\x1b\\)|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]?|[\x00-\x08\x0a-\x1f\x7f-\x9f]|[\u202a-\u202e\u2066-\u2069]/g;

const ADDRESS = /\bhttps?:\/\/[^\s<>"'`{}|\\^\u0000-\u001f]+/g;
const LOOSE_END = /[.,;:!?)\]]+$/;

/** The spans of one line. Colours do not reach into the next: a page can begin anywhere in a log. */
export function spans(text: string): ReadonlyArray<ISpan> {
  const found: ISpan[] = [];
  let style = PLAIN;
  let link: string | undefined;
  let place = 0;
  const put = (piece: string): void => {
    if (piece) {
      found.push(...(link === undefined ? linked(piece, look(style)) : [{ text: piece, look: look(style), link }]));
    }
  };
  for (const match of text.matchAll(CODES)) {
    put(text.slice(place, match.index));
    place = match.index + match[0].length;
    if (match[1] !== undefined) {
      style = restyled(style, match[1]);
    } else if (match[2] !== undefined) {
      link = webAddress(match[2]);
    } else {
      put(visible(match[0]));
    }
  }
  put(text.slice(place));
  return found;
}

/** What of a line is read: its spans without their looks. */
export function plain(text: string): string {
  return spans(text)
    .map(span => span.text)
    .join('');
}

/** What a line shows that was rewritten with carriage returns: its last state, as of a progress bar. */
export function lastState(text: string): string {
  const whole = text.endsWith('\r') ? text.replace(/\r+$/, '') : text;
  return whole.slice(whole.lastIndexOf('\r') + 1);
}

/** A stray control character by its picture, and a turn of direction by its number; whole sequences are not shown. */
function visible(code: string): string {
  const point = code.codePointAt(0) ?? 0;
  if (point >= 0x202a) {
    return `⟨U+${point.toString(16).toUpperCase()}⟩`;
  }
  // A bell and a step back are heard and moved, not read; so are sequences.
  return point === 0x1b || point === 7 || point === 8 || point >= 0x7f ? '' : String.fromCodePoint(0x2400 + point);
}

/** The address if it is one of the web; nothing else is ever followed, whatever it is called. */
export function webAddress(text: string): string | undefined {
  if (!/^https?:\/\//i.test(text)) {
    return undefined;
  }
  try {
    const url = new URL(text);
    return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : undefined;
  } catch {
    return undefined;
  }
}

/** Text with the addresses in it as links. */
function linked(text: string, appearance: string): ReadonlyArray<ISpan> {
  if (!text.includes('://')) {
    return [{ text, look: appearance }];
  }
  const found: ISpan[] = [];
  let place = 0;
  for (const match of text.matchAll(ADDRESS)) {
    const shown = match[0].replace(LOOSE_END, '');
    const link = webAddress(shown);
    if (link !== undefined) {
      found.push({ text: text.slice(place, match.index), look: appearance }, { text: shown, look: appearance, link });
      place = match.index + shown.length;
    }
  }
  found.push({ text: text.slice(place), look: appearance });
  return found.filter(span => span.text);
}

function look({ fg, bg, marks }: IStyle): string {
  const names = [...marks].map(mark => `aiarts-ansi-${mark}`);
  return [...(fg === null ? [] : [`aiarts-fg-${fg}`]), ...(bg === null ? [] : [`aiarts-bg-${bg}`]), ...names].join(' ');
}

function restyled(style: IStyle, parameters: string): IStyle {
  const codes = parameters.split(/[;:]/).map(Number);
  let now = style;
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0;
    if (code === 38 || code === 48) {
      const [colour, used] = farColour(codes, at + 1);
      now = colour === null ? now : { ...now, [code === 38 ? 'fg' : 'bg']: colour };
      at += used;
    } else {
      now = step(now, code);
    }
  }
  return now;
}

/** One plain code; unknown ones change nothing, and hiding (8) is one of them: a log has nothing to hide. */
function step(style: IStyle, code: number): IStyle {
  const on = ON.get(code);
  const off = OFF.get(code);
  if (code === 0) {
    return PLAIN;
  }
  if (on || off) {
    const kept = [...style.marks].filter(mark => !off?.includes(mark));
    return { ...style, marks: new Set(on ? [...kept, on] : kept) };
  }
  const base = Math.floor(code / 10);
  const digit = code % 10;
  if (digit === 9 && (base === 3 || base === 4)) {
    return base === 3 ? { ...style, fg: null } : { ...style, bg: null };
  }
  if (digit < 8 && (base === 3 || base === 9)) {
    return { ...style, fg: digit + (base === 9 ? 8 : 0) };
  }
  if (digit < 8 && (base === 4 || base === 10)) {
    return { ...style, bg: digit + (base === 10 ? 8 : 0) };
  }
  return style;
}

/** A colour of 256 or of 16 million as the nearest of the theme's sixteen, and how many codes it took. */
function farColour(codes: ReadonlyArray<number>, at: number): readonly [number | null, number] {
  const [kind, first = 0, second = 0, third = 0] = codes.slice(at, at + 4);
  if (kind === 5) {
    return [first < 16 ? first : nearest(cube(first)), 2];
  }
  return kind === 2 ? [nearest([first, second, third]), 4] : [null, 0];
}

function cube(number: number): readonly [number, number, number] {
  if (number >= 232) {
    const grey = 8 + (number - 232) * 10;
    return [grey, grey, grey];
  }
  const level = (one: number): number => (one === 0 ? 0 : 55 + one * 40);
  const rest = number - 16;
  return [level(Math.floor(rest / 36)), level(Math.floor(rest / 6) % 6), level(rest % 6)];
}

/** By which of red, green and blue are on, and whether it is bright. */
function nearest([red, green, blue]: readonly [number, number, number]): number {
  const most = Math.max(red, green, blue);
  const least = Math.min(red, green, blue);
  if (most - least < 32) {
    return most < 64 ? 0 : most < 150 ? 8 : most < 220 ? 7 : 15;
  }
  const middle = (most + least) / 2;
  const hue = (red > middle ? 1 : 0) + (green > middle ? 2 : 0) + (blue > middle ? 4 : 0);
  return hue + (most > 200 ? 8 : 0);
}
