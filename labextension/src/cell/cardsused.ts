import type { TranslationBundle } from '@jupyterlab/translation';

import { isFinished } from '../phases';
import type { Phase } from '../wire';

/** Per cent: a card that was never busier has not been used, as the launcher and `aiarts usage` count it. */
const USED = 5;
/** Milliseconds: of a shorter run too few looks were taken to say that a card was never used. */
const ENOUGH = 300_000;

interface IRun {
  readonly phase: Phase;
  readonly nodes: number;
  readonly started?: string | null;
  readonly ended?: string | null;
}

interface IUsedCard {
  readonly node: number;
  readonly id: number;
  /** Per cent, at its busiest; `null` is not known. */
  readonly most: number | null;
}

/**
 * How many cards of a job that is over were used at all, as `aiarts usage JOB` says it; `null` where that is all of them,
 * or not known of one.
 */
export function cardsUsed(run: IRun, cards: ReadonlyArray<IUsedCard>, trans: TranslationBundle): string | null {
  const took = Date.parse(run.ended ?? '') - Date.parse(run.started ?? '');
  const isKnown = new Set(cards.map(({ node }) => node)).size >= run.nodes && cards.every(({ most }) => most !== null);
  if (!isFinished(run.phase) || !(took >= ENOUGH) || cards.length === 0 || !isKnown) {
    return null;
  }
  const used = cards.filter(({ most }) => (most ?? 0) >= USED);
  if (used.length === cards.length) {
    return null;
  }
  const named = used.map(({ node, id }) => (run.nodes > 1 ? `${node}:${id}` : String(id))).join(', ');
  return used.length > 0
    ? trans.__('%1 of its %2 cards have been used: %3.', used.length, cards.length, named)
    : trans.__('None of its %1 cards has been used.', cards.length);
}
