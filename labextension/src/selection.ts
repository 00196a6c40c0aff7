/**
 * Which jobs are chosen, and which row the keyboard is at: pure.
 */
import { keyOf, type Row } from './shown';

export interface ISelection {
  readonly ids: ReadonlySet<string>;
  /** The key of the row that the keyboard is at. */
  readonly cursor: string;
  /** Where a range began. */
  readonly anchor: string;
}

export const NOTHING: ISelection = { ids: new Set(), cursor: '', anchor: '' };

/** Choose this job too, or no more. */
export function toggle(selection: ISelection, id: string): ISelection {
  const ids = new Set(selection.ids);
  if (!ids.delete(id)) {
    ids.add(id);
  }
  return { ids, cursor: id, anchor: id };
}

/** Go to a row: choose it alone, or all from where the range began. The head of a group is never chosen itself. */
export function selectRange(
  rows: ReadonlyArray<Row>,
  selection: ISelection,
  target: number,
  isRange: boolean
): ISelection {
  const row = rows[target];
  if (row === undefined) {
    return selection;
  }
  const cursor = keyOf(row);
  if (!isRange) {
    return { ids: new Set(row.kind === 'job' ? [cursor] : []), cursor, anchor: cursor };
  }
  const began = rows.findIndex(one => keyOf(one) === selection.anchor);
  const [from, until] = began < 0 ? [target, target] : [Math.min(began, target), Math.max(began, target)];
  const ids = rows.slice(from, until + 1).flatMap(one => (one.kind === 'job' ? [one.job.id] : []));
  return { ids: new Set(ids), cursor, anchor: began < 0 ? cursor : selection.anchor };
}
