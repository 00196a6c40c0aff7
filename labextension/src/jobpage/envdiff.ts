import type { Variables } from '../api';

export interface IVariable {
  readonly name: string;
  /** `undefined` where the rank does not have it, `null` for a secret. */
  readonly left: string | null | undefined;
  readonly right: string | null | undefined;
  readonly differs: boolean;
}

/** The variables of two ranks side by side, by name; of one rank where there is no second. */
export function sideBySide(left: Variables, right: Variables | null): ReadonlyArray<IVariable> {
  const has = (variables: Variables, name: string): string | null | undefined =>
    Object.prototype.hasOwnProperty.call(variables, name) ? variables[name] : undefined;
  const names = new Set([...Object.keys(left), ...Object.keys(right ?? {})]);
  return [...names].sort().map(name => {
    const one = has(left, name);
    const other = right === null ? one : has(right, name);
    return { name, left: one, right: other, differs: one !== other };
  });
}
