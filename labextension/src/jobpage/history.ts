/**
 * The past of a run as lines of a chart: pure.
 */
import type { Lines, Rank } from '../api';

/** A line of a chart: a value for each look, `null` where it was not known. */
export interface ILine {
  readonly label: string;
  readonly values: ReadonlyArray<number | null>;
}

export interface IPlot {
  readonly times: ReadonlyArray<number>;
  readonly lines: ReadonlyArray<ILine>;
}

/** The lines of one number, by card or by rank: the series `0 cpu`, `1 cpu` … */
export function plotOf({ times, series }: Lines, name: string, label: (which: number) => string): IPlot {
  const found = Object.entries(series)
    .map(([key, values]) => ({ words: key.split(' '), values }))
    .filter(({ words }) => words.length === 2 && words[1] === name)
    .map(({ words, values }) => ({ which: Number(words[0]), values }))
    .sort((left, right) => left.which - right.which);
  return { times, lines: found.map(({ which, values }) => ({ label: label(which), values })) };
}

/** The rank that has a card, where somebody reported it. */
export function rankOf(ranks: ReadonlyArray<Rank>, node: number, card: number): number | null {
  return ranks.find(rank => rank.node === node && rank.devices?.includes(card))?.rank ?? null;
}
