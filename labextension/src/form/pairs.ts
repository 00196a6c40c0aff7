/**
 * Names and values as people paste them: `--lr 0.1 --amp`, or the text of an `.env` file. Pure.
 */

/** One row of a table; an empty value of a parameter is `--name` alone, and `""` is a value that is empty. */
export interface IPair {
  readonly name: string;
  readonly value: string;
}

/** How a parameter's text stands in its row: as it is, or as JSON where it cannot be seen or is not one line. */
export function valueText(value: string): string {
  return value.trim() === '' || /[\r\n]/.test(value) || valueOf(value) !== value ? JSON.stringify(value) : value;
}

/** The text that a row means: only what `valueText` wrote as JSON is JSON, other quotes are the user's own. */
export function valueOf(text: string): string {
  try {
    const value: unknown = text.startsWith('"') ? JSON.parse(text) : text;
    return typeof value === 'string' && valueText(value) === text ? value : text;
  } catch {
    return text;
  }
}

/**
 * The parameters of a command line, or `null` where the text is none: it must begin with `--name`.
 * Quotes group words as in a shell; nothing is replaced, for arguments are data.
 */
export function parseParams(text: string): ReadonlyArray<IPair> | null {
  const words = splitWords(text.trim().replace(/\\\r?\n/g, ' '));
  if (words === null || !isName(words[0] ?? '') || (words.length < 2 && !text.includes('='))) {
    return null;
  }
  const pairs: { name: string; value: string }[] = [];
  for (const word of words) {
    const last = pairs[pairs.length - 1];
    if (isName(word)) {
      const [, name = '', value] = /^--?([^=]+)(?:=([\s\S]*))?$/.exec(word) ?? [];
      pairs.push({ name, value: value === undefined ? '' : valueText(value) });
    } else if (last && last.value === '') {
      last.value = valueText(word);
    } else {
      return null; // a second value without a name: not parameters alone
    }
  }
  return pairs;
}

/** Negative numbers are values. */
function isName(word: string): boolean {
  return /^--[A-Za-z_]/.test(word);
}

/** Words as a shell would split them, or `null` where a quote has no end. */
function splitWords(text: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  let quote = '';
  for (let index = 0; index < text.length; index += 1) {
    const one = text[index]!;
    if (quote) {
      if (one === quote) {
        quote = '';
      } else if (one === '\\' && quote === '"' && /["\\$`]/.test(text[index + 1] ?? '')) {
        word = (word ?? '') + text[(index += 1)]!;
      } else {
        word = (word ?? '') + one;
      }
    } else if (one === '"' || one === "'") {
      quote = one;
      word = word ?? '';
    } else if (one === '\\' && index + 1 < text.length) {
      word = (word ?? '') + text[(index += 1)]!;
    } else if (/\s/.test(one)) {
      if (word !== null) {
        words.push(word);
      }
      word = null;
    } else {
      word = (word ?? '') + one;
    }
  }
  if (word !== null) {
    words.push(word);
  }
  return quote ? null : words;
}

/** A line, or several that are one value in quotes: keys and certificates are. */
const ENV_LINE = /^[^\S\n]*(?:export[^\S\n]+)?\w[\w.]*[^\S\n]*=[^\S\n]*(?:"(?:[^"\\]|\\[\s\S])*"|'[^']*')[^\S\n]*(?:#.*)?$|^.*$/gm;

/** The variables of an `.env` text, or `null` where a line is none. `export`, quotes and comments are understood. */
export function parseEnv(text: string): ReadonlyArray<IPair> | null {
  const lines = (text.replace(/\r\n/g, '\n').match(ENV_LINE) ?? []).map(line => line.trim());
  const meant = lines.filter(line => line !== '' && !line.startsWith('#'));
  const pairs = meant.map(line => {
    const found = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_.]*)\s*=([\s\S]*)$/.exec(line);
    return found ? { name: found[1]!, value: unquoted(found[2]!) } : null;
  });
  return pairs.length > 0 && pairs.every((pair): pair is IPair => pair !== null) ? pairs : null;
}

function unquoted(value: string): string {
  const single = /^\s*'([^']*)'\s*(?:#.*)?$/.exec(value);
  if (single) {
    return single[1]!;
  }
  const double = /^\s*"((?:[^"\\]|\\[\s\S])*)"\s*(?:#.*)?$/.exec(value);
  if (double) {
    return double[1]!.replace(/\\([nrt"\\$])/g, (_, one: string) => ({ n: '\n', r: '\r', t: '\t' })[one] ?? one);
  }
  return value.replace(/\s+#.*$/, '').trim();
}

/** The rows with others put in: those of the same name take their place, rows without a name go. */
export function merged(rows: ReadonlyArray<IPair>, others: ReadonlyArray<IPair>): ReadonlyArray<IPair> {
  const names = new Set(others.map(({ name }) => name));
  return [...rows.filter(({ name }) => name !== '' && !names.has(name)), ...others];
}
