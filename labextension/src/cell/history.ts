/**
 * What was seen in the last ten minutes, and its picture as a line.
 */
import type { IHistory, IUsage } from './reading';

export const SECONDS = 600;
/** Points of a line. */
export const POINTS = 60;
/** How long a line may be: the shortest that holds what is known, so that a first minute is no dot at the edge. */
const SPANS = [120, 300, SECONDS];
const SLACK = 60;
/** Seconds that a clock may be set back by; the server itself waits for it to catch up (`devices/history.py`). */
const PUT_RIGHT = 60;

/** The newest values of many series at common times. Bounded: what is older than ten minutes is forgotten. */
export class History {
  /** Begin with what the server remembers. */
  begin({ times, series }: IHistory): void {
    this._times = [...times];
    this._series = new Map([...series].map(([name, values]) => [name, [...values]]));
  }

  /**
   * Take note of one moment. A clock that is set back a little is waited for, as is a look that is told twice, by the
   * answer and by the stream; one that goes far back begins anew: no line can be drawn through it.
   */
  add(at: number, values: ReadonlyMap<string, number>): void {
    const last = this._times[this._times.length - 1];
    if (last !== undefined && at <= last) {
      if (last - at <= PUT_RIGHT) {
        return;
      }
      this.begin({ times: [], series: new Map() });
    }
    for (const name of values.keys()) {
      if (!this._series.has(name)) {
        this._series.set(name, new Array<number | null>(this._times.length).fill(null));
      }
    }
    this._times.push(at);
    this._series.forEach((series, name) => series.push(values.get(name) ?? null));
    this._forget(at - SECONDS);
  }

  /** How many seconds a line stands for. */
  get span(): number {
    const known = (this._times[this._times.length - 1] ?? 0) - (this._times[0] ?? 0);
    return SPANS.find(span => known <= span) ?? SECONDS;
  }

  /**
   * A series as means of equal spans of time up to the newest moment, oldest first; `null` where it is not known. The
   * spans lie at fixed times, so that a line moves and never flickers.
   */
  points(name: string): ReadonlyArray<number | null> {
    const each = this.span / POINTS;
    const sums = new Array<number>(POINTS).fill(0);
    const counts = new Array<number>(POINTS).fill(0);
    const newest = Math.floor((this._times[this._times.length - 1] ?? 0) / each);
    this._series.get(name)?.forEach((value, place) => {
      const bucket = POINTS - 1 - (newest - Math.floor(this._times[place]! / each));
      if (value !== null && bucket >= 0) {
        sums[bucket]! += value;
        counts[bucket]! += 1;
      }
    });
    return sums.map((sum, bucket) => (counts[bucket]! > 0 ? sum / counts[bucket]! : null));
  }

  get length(): number {
    return this._times.length;
  }

  private _forget(before: number): void {
    const first = this._times.findIndex(at => at >= before);
    if (first < SLACK) {
      return;
    }
    this._times.splice(0, first);
    for (const [name, series] of this._series) {
      series.splice(0, first);
      if (series.every(value => value === null)) {
        this._series.delete(name); // a card that is gone
      }
    }
  }

  private _times: number[] = [];
  private _series = new Map<string, (number | null)[]>();
}

/** The numbers of one look that are drawn as lines, named as the server names them; what is not known is not there. */
export function valuesOf(usage: IUsage): ReadonlyMap<string, number> {
  const found: [string, number | null][] = [
    ['cpu', usage.cpu],
    ['memory', usage.used],
    ['received', usage.received],
    ['sent', usage.sent],
    ...usage.cards.flatMap(({ key, busy, used }): [string, number | null][] => [
      [`${key} utilization`, busy],
      [`${key} memory`, used]
    ])
  ];
  return new Map(found.flatMap(([name, value]): [string, number][] => (value === null ? [] : [[name, value]])));
}

/** A line in a box as wide as it has points and 100 high; it breaks where nothing is known. */
export function linePath(points: ReadonlyArray<number | null>, most: number): string {
  let path = '';
  let drawing = false;
  points.forEach((value, place) => {
    if (value === null) {
      drawing = false;
      return;
    }
    const height = most > 0 ? 100 - 100 * Math.min(Math.max(value / most, 0), 1) : 100;
    const alone = !drawing && (points[place + 1] ?? null) === null;
    path += `${drawing ? 'L' : 'M'}${place} ${round(height)}${alone ? 'h.01' : ''}`;
    drawing = true;
  });
  return path;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
