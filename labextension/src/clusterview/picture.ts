/**
 * A node's cards as a picture: which cell is whose, in which ring; pure.
 */
import type { TranslationBundle } from '@jupyterlab/translation';

import type { Holding, Node } from '../api';
import { problemNames } from '../nodeproblems';

/** One card. `holder` is the place in `held_by`, `null` for free; `id` is `null` where nobody said which card it is. */
export interface ICell {
  readonly state: 'free' | 'held' | 'unknown';
  readonly holder: number | null;
  readonly id: number | null;
}

/** Cards of a ring of an Ascend 910 board. */
const RING = 4;
const BOARD = 8;

/** Whether the board has two rings of four, which a job does not cross. */
export function hasRings(node: Pick<Node, 'device' | 'cards'>): boolean {
  return (node.device ?? '').startsWith('huawei_npu_') && (node.cards ?? 0) > RING && (node.cards ?? 0) % BOARD === 0;
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
  const count = node.cards ?? 0;
  const byId = new Map((node.held_by ?? []).flatMap((one, holder) => (one.ids ?? []).map(id => [id, holder] as const)));
  const loose = (node.held_by ?? []).flatMap((one, holder) =>
    Array.from({ length: one.ids ? 0 : one.cards }, () => holder)
  );
  // Ids are certain only where everything that is held has some.
  const isCertain = loose.length === 0;
  return Array.from({ length: count }, (_, id): ICell => {
    const known = byId.get(id);
    if (known !== undefined) {
      return { state: 'held', holder: known, id };
    }
    const holder = loose.shift();
    if (holder !== undefined) {
      return { state: 'held', holder, id: null };
    }
    return { state: node.free === null ? 'unknown' : 'free', holder: null, id: isCertain ? id : null };
  });
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
