/**
 * A spec in the words of the other doors: magic, command, Python, YAML. Pure; values are quoted, never trusted.
 */
import type { JobRequest, Json } from '../api';

export type Form = 'magic' | 'command' | 'python' | 'yaml';

export const FORMS: ReadonlyArray<Form> = ['magic', 'command', 'python', 'yaml'];

type Spec = Readonly<Record<string, Json>>;

/** A spec that one of the doors has no words for; another one has. */
export class Inexpressible extends Error {}

/** The spec as a text to paste, which means exactly this spec; secret values are left out of all of them. */
export function copyAs(form: Form, request: JobRequest): string {
  const spec = shareable(request as unknown as Spec);
  switch (form) {
    case 'magic':
      return oneLine(`%aiarts submit ${options(spec).join(' ')}`);
    case 'command':
      return `aiarts submit ${options(spec).join(' ')}`;
    case 'python':
      return python(spec);
    case 'yaml':
      return yaml(spec, '');
  }
}

/** A template as the command that saves it again, for somebody else to paste. */
export function shareAs(name: string, description: string, spec: Spec): string {
  const { script, ...rest } = spec;
  const given = script ? { ...rest, script } : rest;
  const words = Object.entries(given).flatMap(([key, value]) => (key === 'args' ? arguments_(value ?? []) : option(key, value ?? null)));
  const about = description ? [valued('--description', description)] : [];
  return ['aiarts templates save', quoted(name), ...about, ...words].join(' ');
}

function arguments_(value: Json): ReadonlyArray<string> {
  return (value as ReadonlyArray<string>).map(one => `--args=${quoted(one)}`);
}

/** Without ids of one submission, without the values of secrets, and without what follows from other keys. */
function shareable(spec: Spec): Spec {
  const { secret_env: secrets, submission_id: _, kind: __, ...rest } = spec;
  const names = Object.keys((secrets ?? {}) as Spec);
  return names.length > 0 ? { ...rest, secret_env: Object.fromEntries(names.map(name => [name, ''])) } : rest;
}

function options(spec: Spec): ReadonlyArray<string> {
  const { script, args, ...rest } = spec;
  const words = Object.entries(rest).flatMap(([key, value]) => option(key, value ?? null));
  const positional = (args ?? []) as ReadonlyArray<string>;
  const start = script ? String(script) : '';
  return [
    ...(start === '' ? [] : [start.startsWith('-') ? valued('--script', start) : quoted(start)]),
    ...words,
    ...(positional.length > 0 ? ['--', ...positional.map(quoted)] : [])
  ];
}

function option(key: string, value: Json): ReadonlyArray<string> {
  const flag = `--${key.replace(/_/g, '-')}`;
  if (key === 'params') {
    return Object.entries(value as Spec).flatMap(([name, one]) =>
      parameter(name, one ?? null).map(text => valued('--param', text))
    );
  }
  if (key === 'env') {
    return Object.entries(value as Spec).map(([name, one]) => valued('--env', `${name}=${String(one)}`));
  }
  if (key === 'secret_env') {
    return Object.keys(value as Spec).map(name => valued('--secret-env', name));
  }
  if (key === 'mounts') {
    return (value as ReadonlyArray<Spec>).map(one =>
      valued('--mount', `${String(one.source)}:${String(one.target)}${one.read_only ? ':ro' : ''}`)
    );
  }
  return typeof value === 'boolean' ? (value ? [flag] : []) : [valued(flag, String(value))];
}

/** `name=text`, `name` alone, and `name:=JSON` for what these two would not say: numbers, a list of one, a `:` at the end. */
function parameter(name: string, value: Json): ReadonlyArray<string> {
  if (name.includes('=')) {
    throw new Inexpressible(name);
  }
  const isList = Array.isArray(value);
  const values = isList ? (value as ReadonlyArray<Json>) : [value];
  if (isList && values.length < 2) {
    return [`${name}:=${JSON.stringify(value)}`];
  }
  const isPlain = (one: Json): boolean => (one === null && name !== '') || (typeof one === 'string' && !name.endsWith(':'));
  return values.map(one =>
    !isPlain(one) ? `${name}:=${JSON.stringify(one)}` : one === null ? name : `${name}=${String(one)}`
  );
}

/** A value that begins with a dash would be taken for an option of its own. */
function valued(flag: string, value: string): string {
  return value.startsWith('-') ? `${flag}=${quoted(value)}` : `${flag} ${quoted(value)}`;
}

/** A magic ends with its line, whatever is quoted in it. */
function oneLine(text: string): string {
  if (/[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]/.test(text)) {
    throw new Inexpressible('a line break');
  }
  return text;
}

/** A word that a shell, and the magic, read as one and as it is. */
function quoted(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, `'"'"'`)}'`;
}

function python(spec: Spec): string {
  const { script, ...rest } = spec;
  const words = [
    ...(script ? [literal(script)] : []),
    ...Object.entries(rest).map(([key, value]) => `${key}=${literal(value ?? null)}`)
  ];
  return `import jupyter_aiarts as aiarts\n\njob = aiarts.submit(\n${words.map(word => `    ${word},\n`).join('')})\n`;
}

/** JSON's text is Python's but for three words and their kin. */
function literal(value: Json): string {
  if (value === null) {
    return 'None';
  }
  if (typeof value === 'boolean') {
    return value ? 'True' : 'False';
  }
  if (Array.isArray(value)) {
    return `[${(value as ReadonlyArray<Json>).map(literal).join(', ')}]`;
  }
  if (typeof value === 'object') {
    return `{${Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${literal(one)}`).join(', ')}}`;
  }
  return JSON.stringify(value);
}

/** Maps in lines, everything else as JSON, which YAML reads; plain words stay plain. */
function yaml(spec: Spec, indent: string): string {
  return Object.entries(spec)
    .map(([key, value]) => {
      const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
      const name = `${indent}${scalar(key)}:`;
      return isMap ? `${name}\n${yaml(value as Spec, `${indent}  `)}` : `${name} ${scalar(value ?? null)}\n`;
    })
    .join('');
}

/** Words that YAML would take for something else than text. */
const NOT_TEXT = /^(?:true|false|null|yes|no|on|off|y|n|~|[-+.]?[\d.].*)$/i;

/** What YAML does not take as it is, or takes for a line's end, though JSON does. */
const UNPRINTABLE = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g;

function scalar(value: Json): string {
  if (typeof value === 'string' && /^[A-Za-z_/][\w./-]*$/.test(value) && !NOT_TEXT.test(value)) {
    return value;
  }
  // `1e-7` is a text to YAML; `1.0e-7` is the number.
  return typeof value === 'number'
    ? JSON.stringify(value).replace(/^(-?\d+)e/, '$1.0e')
    : JSON.stringify(value).replace(UNPRINTABLE, one => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
