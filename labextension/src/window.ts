/**
 * Which rows of a long list are to be drawn, and where: pure, in pixels.
 */

/** Rows `start` to `end` (not included), the first of them `top` pixels from the list's beginning. */
export interface IStretch {
  readonly start: number;
  readonly end: number;
  readonly top: number;
}

/** Where each row begins; the last number is the whole height. */
export function tops(count: number, height: (index: number) => number): Float64Array {
  const found = new Float64Array(count + 1);
  for (let index = 0; index < count; index++) {
    found[index + 1] = (found[index] ?? 0) + height(index);
  }
  return found;
}

/** The row at this distance from the beginning; the nearest one where that is outside. */
export function rowAt(found: Float64Array, distance: number): number {
  let low = 0;
  let high = Math.max(0, found.length - 2);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((found[middle] ?? 0) <= distance) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

/** What is seen of the list through a hole of `height` pixels, with `around` more rows on both sides. */
export function stretch(found: Float64Array, scrolled: number, height: number, around: number): IStretch {
  const count = found.length - 1;
  if (count <= 0) {
    return { start: 0, end: 0, top: 0 };
  }
  const start = Math.max(0, rowAt(found, scrolled) - around);
  const end = Math.min(count, rowAt(found, scrolled + height) + 1 + around);
  return { start, end, top: found[start] ?? 0 };
}

/** How far to scroll so that a row is whole in sight; as it is where it already is. */
export function scrollFor(offsets: Float64Array, index: number, top: number, height: number): number {
  const begin = offsets[index] ?? 0;
  const end = offsets[index + 1] ?? begin;
  return begin < top ? begin : end > top + height ? end - height : top;
}
