/**
 * A node's cards as a picture: which cell is whose, in which ring; pure.
 */
import type { TranslationBundle } from '@jupyterlab/translation';

import type { Holding, Node } from '../api';
import { problemNames } from '../nodeproblems';

/** One card. `holder` is the place in `held_by`, `null` for nobody; `id` is `null` where nobody said which card it is. */
export interface ICell {
  readonly state: 'free' | 'held' | 'unwell' | 'unknown';
  readonly holder: number | null;
  readonly id: number | null;
}

/** Cards of a ring of an Ascend 910 board. */
const RING = 4;
const BOARD = 8;

function isBoard({ device }: Pick<Node, 'device'>): boolean {
  return (device ?? '').startsWith('huawei_npu_');
}

/**
 * All cards, also those that are not offered because they are not well. A board that would have more than it has places
 * for has some of them among those it offers.
 */
function count(node: Pick<Node, 'device' | 'cards' | 'unhealthy'>): number {
  const [offered, unwell] = [node.cards ?? 0, node.unhealthy ?? 0];
  const places = Math.ceil(offered / BOARD) * BOARD;
  const isOver = isBoard(node) && offered > 0 && (offered + unwell) % BOARD !== 0;
  return isOver ? Math.min(offered + unwell, places) : offered + unwell;
}

/** Whether the board has two rings of four, which a job does not cross. */
export function hasRings(node: Pick<Node, 'device' | 'cards' | 'unhealthy'>): boolean {
  return isBoard(node) && count(node) > RING && count(node) % BOARD === 0;
}

/**
 * The cards in groups: rings where there are any, else one. Cards that are held by id are at their place; where only a
 * number is known, the cells fill up from the left and carry no id, because which cards they are nobody said.
 */
export function groups(node: Node): ReadonlyArray<ReadonlyArray<ICell>> {
  const all = cells(node);
  if (!hasRings(node)) {
    return all.length > 0 ? [all] : [];
  }
  return Array.from({ length: Math.ceil(all.length / RING) }, (_, ring) => all.slice(ring * RING, (ring + 1) * RING));
}

function cells(node: Node): ReadonlyArray<ICell> {
  const byId = new Map((node.held_by ?? []).flatMap((one, holder) => (one.ids ?? []).map(id => [id, holder] as const)));
  const loose = (node.held_by ?? []).flatMap((one, holder) =>
    Array.from({ length: one.ids ? 0 : one.cards }, () => holder)
  );
  // Ids are certain only where everything that is held has some.
  const isCertain = loose.length === 0;
  const taken = Array.from({ length: count(node) }, (_, id): ICell | null => {
    const known = byId.get(id);
    const holder = known ?? loose.shift();
    return holder === undefined ? null : { state: 'held', holder, id: known === undefined ? null : id };
  });
  const rest = states(node, taken.filter(cell => cell === null).length);
  // Of cards that nobody holds, nobody said which are not well.
  const isSame = new Set(rest).size === 1;
  return taken.map((cell, id) => cell ?? { state: rest.shift() ?? 'unknown', holder: null, id: isCertain && isSame ? id : null });
}

/** What the cards are that nobody is seen to hold: as many free ones as there are said to be, and those that are not well. */
function states(node: Node, left: number): ICell['state'][] {
  const most = Math.min(left, count(node) - (node.cards ?? 0));
  const unwell = node.free === null ? most : Math.min(most, Math.max(0, left - node.free));
  const others = node.free === null ? 'unknown' : 'free';
  return [...new Array<ICell['state']>(left - unwell).fill(others), ...new Array<ICell['state']>(unwell).fill('unwell')];
}

/** Free cards in each ring, where every card's place is known; `null` otherwise. */
export function freeInRings(node: Node): ReadonlyArray<number> | null {
  const rings = groups(node);
  if (!hasRings(node) || node.free === null || rings.some(ring => ring.some(({ id }) => id === null))) {
    return null;
  }
  return rings.map(ring => ring.filter(({ state }) => state === 'free').length);
}

/** Who it is, in as many words as are known. */
export function holderName({ owner, job, namespace, pod }: Holding): string {
  return [owner, job ?? pod, owner === null ? namespace : null].filter(Boolean).join(' · ');
}

/** One of eight colours for a holder: the same for the same job, whichever node it is on. */
export function holderColour(holding: Holding): number {
  const key = holding.job ?? holding.pod ?? holding.namespace ?? '';
  return [...key].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) >>> 0, 7) % 8;
}

/** What is free of what there is, by device; `null` where of any node that is not known. */
export function totals(
  nodes: ReadonlyArray<Node>
): ReadonlyMap<string, { readonly cards: number; readonly free: number | null }> {
  const found = new Map<string, { cards: number; free: number | null }>();
  for (const node of nodes) {
    if (node.device !== null && node.cards) {
      const { cards, free } = found.get(node.device) ?? { cards: 0, free: 0 };
      found.set(node.device, {
        cards: cards + node.cards,
        free: free === null || node.free === null ? null : free + node.free
      });
    }
  }
  return found;
}

/** Nodes that match what is sought: in their name, device, holders or problems; and with something free if asked for. */
export function sought(
  nodes: ReadonlyArray<Node>,
  word: string,
  onlyFree: boolean,
  trans: TranslationBundle
): ReadonlyArray<Node> {
  const wanted = word.trim().toLowerCase();
  const words = (node: Node): string =>
    [
      node.cluster,
      node.name,
      node.device,
      ...(node.problems ?? []),
      ...problemNames(node.problems ?? [], trans),
      ...(node.held_by ?? []).map(holderName)
    ]
      .join(' ')
      .toLowerCase();
  return nodes.filter(node => (!onlyFree || (node.free ?? 0) > 0) && (wanted === '' || words(node).includes(wanted)));
}

/** What a node really uses, whoever asked for it; only a cluster with a metrics server knows. */
export function inUse({ used_cpu: cpu, used_memory_gb: memory }: Node, trans: TranslationBundle): string {
  return typeof cpu === 'number' || typeof memory === 'number'
    ? trans.__('In use just now: %1 CPUs, %2 GB of memory', inTenths(cpu, trans), inTenths(memory, trans))
    : trans.__('What it uses just now is unknown: the cluster tells no such metrics.');
}

/** An amount as people read it. */
export function inTenths(value: number | null | undefined, trans: TranslationBundle): string {
  return typeof value !== 'number' ? trans.__('unknown') : String(Math.round(value * 10) / 10);
}

/** What somebody holds of a node, each amount in words. */
export function amountsOf({ cards, ids, cpu }: Holding, trans: TranslationBundle): ReadonlyArray<string> {
  const which = ids && ids.length > 0 ? ` (${ids.join(', ')})` : '';
  return [
    ...(cards > 0 ? [trans.__('%1 cards', cards) + which] : []),
    ...(typeof cpu === 'number' ? [trans.__('%1 CPUs', inTenths(cpu, trans))] : [])
  ];
}
