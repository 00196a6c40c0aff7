/**
 * Numbers as people read them. Unknown is a question mark, never 0.
 */
import type { ListedSpec } from './api';

export const UNKNOWN = '?';
/** Shares of a disk from which on it is pointed out, as `aiarts usage` does. */
export const NEARLY_FULL = 0.9;
export const FULL = 0.97;

/** Bytes. */
export function size(count: number | null): string {
  if (count === null) {
    return UNKNOWN;
  }
  let left = count;
  for (const unit of ['B', 'KB', 'MB', 'GB']) {
    if (left < 1024) {
      return unit === 'B' ? `${left.toFixed(0)} B` : `${left.toFixed(1)} ${unit}`;
    }
    left /= 1024;
  }
  return `${left.toFixed(1)} TB`;
}

/** Bytes of so many; the unit is said once where both have the same. */
export function sizes(part: number | null, whole: number | null): string {
  const [left, right] = [size(part), size(whole)];
  const unit = right.slice(right.lastIndexOf(' '));
  return `${unit !== UNKNOWN && left.endsWith(unit) ? left.slice(0, -unit.length) : left} / ${right}`;
}

/** Megabytes. */
export function megabyte(count: number | null): string {
  return size(bytes(count));
}

/** Megabytes of so many. */
export function megabytes(part: number | null, whole: number | null): string {
  return sizes(bytes(part), bytes(whole));
}

function bytes(megabytes: number | null): number | null {
  return megabytes === null ? null : megabytes * 1024 * 1024;
}

export function number(value: number | null, digits: number, unit = ''): string {
  return value === null ? UNKNOWN : value.toFixed(digits) + unit;
}

/** A share from 0 to 1; `null` where it is not known. */
export function share(part: number | null, whole: number | null): number | null {
  return part === null || whole === null || whole <= 0 ? null : Math.min(Math.max(part / whole, 0), 1);
}

export function percent(part: number | null, whole: number | null): string {
  const value = share(part, whole);
  return value === null ? UNKNOWN : `${Math.round(value * 100)} %`;
}

export type Level = 'fine' | 'high' | 'full';

/** How full a disk is. */
export function level(part: number | null, whole: number | null): Level {
  const value = share(part, whole) ?? 0;
  return value >= FULL ? 'full' : value >= NEARLY_FULL ? 'high' : 'fine';
}

/** `2 x 8 huawei_npu_arm64`: what a job takes. */
export function devices({ device, devices: cards, nodes }: Pick<ListedSpec, 'device' | 'devices' | 'nodes'>): string {
  const each = cards > 0 ? `${cards} ${device}` : device;
  return nodes > 1 ? `${nodes} × ${each}` : each;
}
