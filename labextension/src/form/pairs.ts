/**
 * Names and values as people paste them: `--lr 0.1 --amp`, or the text of an `.env` file. Pure.
 */

/** One row of a table; an empty value of a parameter is `--name` alone. */
export interface IPair {
  readonly name: string;
  readonly value: string;
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
      const [, name = '', value = ''] = /^--?([^=]+)(?:=([\s\S]*))?$/.exec(word) ?? [];
      pairs.push({ name, value });
    } else if (last && last.value === '') {
      last.value = word;
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

/** The variables of an `.env` text, or `null` where a line is none. `export`, quotes and comments are understood. */
export function parseEnv(text: string): ReadonlyArray<IPair> | null {
  const lines = text.split(/\r?\n/).map(line => line.trim());
  const meant = lines.filter(line => line !== '' && !line.startsWith('#'));
  const pairs = meant.map(line => {
    const found = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_.]*)\s*=\s*(.*)$/.exec(line);
    return found ? { name: found[1]!, value: unquoted(found[2]!) } : null;
  });
  return pairs.length > 0 && pairs.every((pair): pair is IPair => pair !== null) ? pairs : null;
}

function unquoted(value: string): string {
  const single = /^'([^']*)'\s*(?:#.*)?$/.exec(value);
  if (single) {
    return single[1]!;
  }
  const double = /^"((?:[^"\\]|\\.)*)"\s*(?:#.*)?$/.exec(value);
  if (double) {
    return double[1]!.replace(/\\([nrt"\\$])/g, (_, one: string) => ({ n: '\n', r: '\r', t: '\t' })[one] ?? one);
  }
  return value.replace(/\s+#.*$/, '');
}

/** The rows with others put in: those of the same name take their place, rows without a name go. */
export function merged(rows: ReadonlyArray<IPair>, others: ReadonlyArray<IPair>): ReadonlyArray<IPair> {
  const names = new Set(others.map(({ name }) => name));
  return [...rows.filter(({ name }) => name !== '' && !names.has(name)), ...others];
}
