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

/**
 * What is left of a choice when the rows are others than before: nobody deletes what they do not see, and where its own
 * row has gone the keyboard is at the one that has come into its place.
 */
export function settled(selection: ISelection, before: ReadonlyArray<Row>, rows: ReadonlyArray<Row>): ISelection {
  const there = new Set(rows.map(keyOf));
  const ids = [...selection.ids].filter(id => there.has(id));
  const cursor = there.has(selection.cursor) ? selection.cursor : nearest(selection.cursor, before.map(keyOf), there);
  const isSame = ids.length === selection.ids.size && cursor === selection.cursor;
  return isSame ? selection : { ...selection, ids: new Set(ids), cursor };
}

/** Of the rows that are still there, the next after one that has gone; where it was the last, the one before it. */
function nearest(gone: string, before: ReadonlyArray<string>, there: ReadonlySet<string>): string {
  const at = before.indexOf(gone);
  const [above, below] = [before.slice(0, Math.max(0, at)), at < 0 ? [] : before.slice(at + 1)];
  return below.find(key => there.has(key)) ?? above.reverse().find(key => there.has(key)) ?? gone;
}
