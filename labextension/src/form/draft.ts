/**
 * What stands in the form, as text, and the spec that it means. Pure: what is not given is left to the server.
 */
import type { JobRequest, Json } from '../api';
import type { Patch } from '../tokens';
import { type IPair, valueOf, valueText } from './pairs';

/** How a key's text is read. */
const KINDS = {
  name: 'text',
  cluster: 'text',
  device: 'text',
  devices: 'number',
  nodes: 'number',
  image: 'text',
  image_pull_secret: 'text',
  environment: 'text',
  script: 'text',
  args: 'lines',
  command: 'text',
  workdir: 'text',
  data_path: 'text',
  output_path: 'text',
  pass_paths: 'truth',
  mounts: 'mounts',
  cpu: 'number',
  memory_gb: 'number',
  shm_gb: 'number',
  framework: 'text',
  processes: 'text',
  rank_table: 'text',
  run_as: 'text',
  queue: 'text',
  priority: 'number',
  preemptible: 'truth',
  max_restarts: 'number',
  max_hours: 'number',
  grace_seconds: 'number',
  template: 'text'
} as const;

export type TextKey = keyof typeof KINDS;
export type TableKey = 'params' | 'env' | 'secret_env';

export const TEXT_KEYS = Object.keys(KINDS) as ReadonlyArray<TextKey>;

export interface IDraft {
  /** Empty is not given. */
  readonly texts: Readonly<Partial<Record<TextKey, string>>>;
  readonly params: ReadonlyArray<IPair>;
  readonly env: ReadonlyArray<IPair>;
  readonly secret_env: ReadonlyArray<IPair>;
}

export const BLANK: IDraft = { texts: {}, params: [], env: [], secret_env: [] };

/** The draft with one text changed. */
export function withText(draft: IDraft, key: TextKey, text: string): IDraft {
  return { ...draft, texts: { ...draft.texts, [key]: text } };
}

/** The spec that a draft means. A number that is none goes to the server as it is: it says what is wrong with it. */
export function specOf(draft: IDraft): JobRequest {
  const given = TEXT_KEYS.flatMap(key => {
    const text = draft.texts[key] ?? '';
    return text.trim() === '' ? [] : [[key, read(key, text)] as const];
  });
  const spec: Record<string, Json> = Object.fromEntries(given);
  const tables = { params: params(draft.params), env: texts(draft.env), secret_env: texts(draft.secret_env) };
  Object.entries(tables).forEach(([key, table]) => Object.keys(table).length > 0 && (spec[key] = table));
  return spec as JobRequest;
}

/** The spec of a new job: a secret without a value is null, which the server asks for; an empty text it would take. */
export function newSpecOf(draft: IDraft): JobRequest {
  const { secret_env: secrets, ...spec } = specOf(draft);
  const asked = Object.entries(secrets ?? {}).map(([name, value]) => [name, value === '' ? null : value]);
  return asked.length > 0 ? { ...spec, secret_env: Object.fromEntries(asked) as Record<string, string | null> } : spec;
}

function read(key: TextKey, text: string): Json {
  switch (KINDS[key]) {
    case 'number':
      return Number.isFinite(Number(text)) ? Number(text) : text;
    case 'truth':
      return text === 'true';
    case 'lines':
      return text.split('\n').filter(line => line !== '').map(argument);
    case 'mounts':
      return text.split('\n').filter(line => line.trim() !== '').map(mount);
    default:
      return key === 'command' ? text : text.trim();
  }
}

/** One argument as its line says it: as it stands, or as the JSON text that a line in double quotes is. */
function argument(line: string): string {
  try {
    const value: unknown = line.startsWith('"') ? JSON.parse(line) : line;
    return typeof value === 'string' ? value : line;
  } catch {
    return line; // a quote of its own
  }
}

/** The line of an argument; as JSON where it is not one line, cannot be seen, or would be read as something else. */
function argumentLine(value: string): string {
  return value.trim() === '' || /[\r\n]/.test(value) || argument(value) !== value ? JSON.stringify(value) : value;
}

/** `source:target[:ro]`, as the command line has it; the source of an NFS export has a colon of its own. */
function mount(line: string): Json {
  const [, source = line.trim(), target = '', only] = /^\s*(.+):(\/[^:]*?)(:ro)?\s*$/.exec(line) ?? [];
  return { source, target, ...(only ? { read_only: true } : {}) };
}

/** A name that comes twice is a list; one without a value stands alone. */
function params(rows: ReadonlyArray<IPair>): Record<string, Json> {
  const found: Record<string, Json> = {};
  rows.filter(({ name }) => name.trim() !== '').forEach(({ name: raw, value: text }) => {
    const [name, value] = [raw.trim().replace(/^--/, ''), valueOf(text)];
    const before = found[name];
    found[name] =
      name in found ? [...(Array.isArray(before) ? (before as Json[]) : [before ?? '']), value] : text === '' ? null : value;
  });
  return found;
}

function texts(rows: ReadonlyArray<IPair>): Record<string, Json> {
  return Object.fromEntries(rows.filter(({ name }) => name.trim() !== '').map(({ name, value }) => [name.trim(), value]));
}

/** The draft that stands for a spec; what is at rest (empty, false) is not given. */
export function draftOf(spec: Readonly<Record<string, unknown>>): IDraft {
  const texts = Object.fromEntries(
    TEXT_KEYS.flatMap(key => {
      const text = written(spec[key]);
      return text === '' ? [] : [[key, text]];
    })
  );
  const pairs = (value: unknown, text = written): ReadonlyArray<IPair> =>
    Object.entries((value ?? {}) as Readonly<Record<string, unknown>>).flatMap(([name, one]) =>
      (Array.isArray(one) ? one : [one]).map(each => ({ name, value: text(each) || (each === false ? 'false' : '') }))
    );
  const param = (value: unknown): string => (typeof value === 'string' ? valueText(value) : written(value));
  return { texts, params: pairs(spec.params, param), env: pairs(spec.env), secret_env: pairs(spec.secret_env) };
}

function written(value: unknown): string {
  if (value === null || value === undefined || value === false) {
    return '';
  }
  if (Array.isArray(value)) {
    return value.map(one => (typeof one === 'object' ? mountText(one as IMount) : argumentLine(String(one)))).join('\n');
  }
  return typeof value === 'object' ? '' : String(value);
}

interface IMount {
  readonly source: string;
  readonly target: string;
  readonly read_only?: boolean;
}

function mountText({ source, target, read_only: only }: IMount): string {
  return `${source}:${target}${only ? ':ro' : ''}`;
}

/** A draft after one of an explanation's suggestions: a merge patch of the spec. */
export function patched(draft: IDraft, patch: Readonly<Record<string, Json>>): IDraft {
  const suggested = draftOf(patch);
  const taken = Object.keys(patch).filter(key => patch[key] === null || patch[key] === false);
  const kept = Object.fromEntries(Object.entries(draft.texts).filter(([key]) => !taken.includes(key)));
  const table = (key: TableKey): ReadonlyArray<IPair> => {
    const change = (patch[key] ?? {}) as Readonly<Record<string, Json>>;
    return [
      ...draft[key].filter(({ name }) => !(name in change)),
      ...suggested[key].filter(({ name }) => change[name] !== null || key === 'params')
    ];
  };
  return {
    texts: { ...kept, ...suggested.texts },
    params: table('params'),
    env: table('env'),
    secret_env: table('secret_env')
  };
}

/** What somebody changed in an earlier draft. */
export interface IChange {
  readonly before: IDraft;
  readonly after: IDraft;
}

/** The draft with the same changed as was changed elsewhere; all else stays as it is by now. */
export function rebased(draft: IDraft, { before, after }: IChange): IDraft {
  const keys = TEXT_KEYS.filter(key => before.texts[key] !== after.texts[key]);
  const table = (key: TableKey): ReadonlyArray<IPair> =>
    (JSON.stringify(before[key]) === JSON.stringify(after[key]) ? draft : after)[key];
  return {
    texts: { ...draft.texts, ...Object.fromEntries(keys.map(key => [key, after.texts[key] ?? ''])) },
    params: table('params'),
    env: table('env'),
    secret_env: table('secret_env')
  };
}

/** The merge patch that makes the spec of one draft that of another; a key that is no longer given is null. */
export function patchOf(before: IDraft, after: IDraft): Patch {
  const [old, now] = [specOf(before), specOf(after)] as unknown as Patch[];
  const changed = [...new Set([...Object.keys(old!), ...Object.keys(now!)])].filter(
    key => JSON.stringify(old![key]) !== JSON.stringify(now![key])
  );
  const patch = Object.fromEntries(changed.map(key => [key, difference(key, old![key], now![key])]));
  // A new job's kind follows from its nodes; that of one that is there has been settled.
  return 'nodes' in patch ? { ...patch, kind: Number(now!.nodes ?? 1) > 1 ? 'distributed' : 'regular' } : patch;
}

/**
 * Parameters that an edit cannot say: null takes a name away in a merge patch, so one that stands alone now and did not
 * before would be dropped without a word.
 */
export function unsayable(before: IDraft, after: IDraft): ReadonlyArray<string> {
  const [was, is] = [params(before.params), params(after.params)];
  return Object.keys(is).filter(name => is[name] === null && was[name] !== null);
}

/** Of a table, the names that went are null; an empty value of a secret keeps the one the server has. */
function difference(key: string, old: Json | undefined, now: Json | undefined): Json {
  if (key !== 'params' && key !== 'env' && key !== 'secret_env') {
    return now ?? null;
  }
  const [was, is] = [(old ?? {}) as Record<string, Json>, (now ?? {}) as Record<string, Json>];
  const gone = Object.keys(was).filter(name => !(name in is)).map(name => [name, null]);
  const kept = Object.entries(is).filter(
    ([name, value]) => !(key === 'secret_env' && value === '') && JSON.stringify(was[name]) !== JSON.stringify(value)
  );
  return Object.fromEntries([...gone, ...kept]) as Json;
}
