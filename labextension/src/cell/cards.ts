/**
 * Where each card of a machine stands in the map.
 */
import type { IHolding, IMachine } from './reading';

/** More squares than this are not drawn; the numbers say it all the same. */
const MOST = 64;

export type Square =
  | { readonly state: 'free' | 'unknown' | 'unhealthy' }
  | { readonly state: 'held'; readonly by: IHolding; readonly isGuess: boolean };

/**
 * One square for each card, by its id where somebody reported it; holders whose cards nobody reported take the first
 * places that are left, marked as a guess. What cannot be known is `unknown`, never `free`; cards that are not well are
 * not among those a node offers, and stand after them.
 */
export function squares(machine: IMachine): ReadonlyArray<Square> {
  const count = Math.min(machine.cards ?? 0, MOST);
  const unhealthy = Math.min(machine.unhealthy, MOST - count);
  const places = new Array<Square | undefined>(count).fill(undefined);
  for (const by of machine.held) {
    by.ids?.filter(id => id < count).forEach(id => (places[id] = { state: 'held', by, isGuess: false }));
  }
  for (const by of machine.held.filter(({ ids }) => ids === null)) {
    for (let left = by.cards, place = 0; left > 0 && place < count; place++) {
      if (places[place] === undefined) {
        places[place] = { state: 'held', by, isGuess: true };
        left -= 1;
      }
    }
  }
  const rest: Square = { state: machine.free === null ? 'unknown' : 'free' };
  const offered = places.map(square => square ?? rest);
  return [...offered, ...new Array<Square>(unhealthy).fill({ state: 'unhealthy' })];
}

/** Whose cards they are: a user, or of what is not a job of ours, its namespace. */
export function holder({ owner, namespace }: IHolding): string {
  return owner ?? namespace ?? '?';
}
