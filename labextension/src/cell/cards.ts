/**
 * Where each card of a machine stands in the map.
 */
import type { IHolding, IMachine } from './reading';

/** More squares than this are not drawn; the numbers say it all the same. */
const MOST = 64;

export type Square =
  | { readonly state: 'free' | 'unknown' | 'unhealthy'; readonly isGuess: boolean }
  | { readonly state: 'held'; readonly by: IHolding; readonly isGuess: boolean };

/**
 * One square for each card, by its id where somebody reported it; holders whose cards nobody reported, or that the
 * machine no longer offers, take the first places that are left, marked as a guess. What cannot be known is `unknown`,
 * never `free`; cards that are not well are not among those a node offers: nobody said which they are, and they stand
 * after those that are free.
 */
export function squares(machine: IMachine): ReadonlyArray<Square> {
  const total = (machine.cards ?? 0) + machine.unhealthy;
  const count = Math.min(total, MOST);
  const places = new Array<Square | undefined>(count).fill(undefined);
  for (const by of machine.held) {
    by.ids?.filter(id => id < count).forEach(id => (places[id] = { state: 'held', by, isGuess: false }));
  }
  for (const by of machine.held) {
    const elsewhere = by.ids === null ? by.cards : by.ids.filter(id => id >= total).length;
    for (let left = elsewhere, place = 0; left > 0 && place < count; place++) {
      if (places[place] === undefined) {
        places[place] = { state: 'held', by, isGuess: true };
        left -= 1;
      }
    }
  }
  let well = places.filter(square => square === undefined).length - machine.unhealthy;
  const isGuess = machine.unhealthy > 0;
  const rest = (): Square => (well-- > 0 ? { state: machine.free === null ? 'unknown' : 'free', isGuess } : { state: 'unhealthy', isGuess });
  return places.map(square => square ?? rest());
}

/** Whose cards they are: a user, or of what is not a job of ours, its namespace. */
export function holder({ owner, namespace }: IHolding): string {
  return owner ?? namespace ?? '?';
}
