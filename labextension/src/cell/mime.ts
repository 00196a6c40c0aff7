/**
 * What a cell's output asks to be drawn. It comes out of a notebook file, so anybody may have written it: nothing of it
 * is shown, and an id is checked before it becomes a part of an address.
 */

export const MIME = 'application/vnd.jupyter-aiarts.v1+json';

/** The words of `GET jobs` that a saved list may use. */
const WORDS = ['phase', 'q', 'owner', 'mine', 'limit'] as const;
const ID = /^[a-z][a-z0-9]{9}$/;
const MOST_IDS = 20;
const LONGEST = 256;

export type Shown =
  | { readonly kind: 'usage' }
  | { readonly kind: 'job'; readonly id: string }
  | { readonly kind: 'jobs'; readonly query: Readonly<Record<string, string>>; readonly ids: ReadonlyArray<string> | null }
  | { readonly kind: 'cluster'; readonly cluster: string | null };

/** What is to be drawn; `null` where that is not understood, and the text beside it is shown. */
export function shownBy(value: unknown): Shown | null {
  if (typeof value !== 'object' || value === null) {
    return null;
  }
  const said = value as Readonly<Record<string, unknown>>;
  switch (said.kind) {
    case 'usage':
      return { kind: 'usage' };
    case 'job':
      return isId(said.id) ? { kind: 'job', id: said.id } : null;
    case 'jobs':
      return jobs(said);
    case 'cluster':
      return { kind: 'cluster', cluster: word(said.cluster) };
    default:
      return null;
  }
}

function jobs(said: Readonly<Record<string, unknown>>): Shown | null {
  if (said.ids !== undefined) {
    const ids = Array.isArray(said.ids) ? said.ids : [null];
    return ids.length <= MOST_IDS && ids.every(isId) ? { kind: 'jobs', query: {}, ids } : null;
  }
  const given = WORDS.flatMap(name => {
    const value = word(said[name] === true ? '1' : said[name]);
    return value === null ? [] : [[name, value] as const];
  });
  return { kind: 'jobs', query: Object.fromEntries(given), ids: null };
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && ID.test(value);
}

function word(value: unknown): string | null {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && text !== '' && text.length <= LONGEST ? text : null;
}
