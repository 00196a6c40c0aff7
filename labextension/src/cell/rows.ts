/**
 * A list that is asked for again: rows that are the same stay the same objects, so that only others are drawn anew.
 */

/** The new list, with the old object for each row that says the same. */
export function keptRows<Row extends { readonly id: string }>(
  before: ReadonlyArray<Row>,
  after: ReadonlyArray<Row>
): ReadonlyArray<Row> {
  const known = new Map(before.map(row => [row.id, row]));
  const rows = after.map(row => {
    const old = known.get(row.id);
    return old !== undefined && JSON.stringify(old) === JSON.stringify(row) ? old : row;
  });
  return rows.length === before.length && rows.every((row, place) => row === before[place]) ? before : rows;
}
