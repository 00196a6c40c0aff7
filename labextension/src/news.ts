import type { TranslationBundle } from '@jupyterlab/translation';

import { problemNames } from './nodeproblems';
import type { ICluster, IJob } from './wire';

/** More news than this at once are one: a screen full of cards is not read. */
const MANY = 3;

/** One thing somebody wants to be told of without looking; `kind` is how JupyterLab colours it. */
export interface INews {
  readonly kind: 'success' | 'error' | 'info';
  readonly text: string;
  /** Whether it is about nodes and not about jobs. */
  readonly ofNodes?: true;
}

/** By node, with its cluster: what is wrong with it. */
export type Troubles = ReadonlyMap<string, ReadonlyArray<string>>;

/** Milliseconds for which the stream may be late with a job that came and ended, and clocks differ. */
const SLACK = 60_000;

/**
 * What ended by itself between two pictures, the first of them seen at `looked`; a stop is no news to whoever asked for
 * it. A cluster that comes back brings all that ever ended there: what is new to us is news only if its end is.
 */
export function ended(
  before: ReadonlyMap<string, IJob>,
  looked: number,
  after: ReadonlyArray<IJob>,
  trans: TranslationBundle
): ReadonlyArray<INews> {
  const isNews = (job: IJob): boolean => {
    const known = before.get(job.id);
    return known ? known.phase !== job.phase : job.ended === null || Date.parse(job.ended) >= looked - SLACK;
  };
  const news = after.filter(isNews).flatMap(job => end(job, trans));
  if (news.length <= MANY) {
    return news;
  }
  const failed = news.filter(one => one.kind === 'error').length;
  return [
    {
      kind: failed ? 'error' : 'success',
      text: trans.__('%1 jobs have ended, %2 of them failed.', news.length, failed)
    }
  ];
}

function end(job: IJob, trans: TranslationBundle): ReadonlyArray<INews> {
  switch (job.phase) {
    case 'succeeded':
      return [{ kind: 'success', text: trans.__('%1 is done.', job.name) }];
    case 'failed':
    case 'lost':
      return [{ kind: 'error', text: trans.__('%1 failed: %2', job.name, job.explanation?.title ?? job.phase) }];
    default:
      return [];
  }
}

/** The news that a job has been waiting for long, with the reason as far as it is known. */
export function waits(job: IJob, minutes: number, trans: TranslationBundle): INews {
  const why = job.explanation?.title ?? '';
  return { kind: 'info', text: trans.__('%1 has been waiting for %2 minutes. %3', job.name, minutes, why).trim() };
}

/** By cluster, of those that tell of their nodes: which of them are not well, and in what. */
export function troubles(clusters: ReadonlyArray<ICluster>, trans: TranslationBundle): Map<string, Troubles> {
  const guarded = clusters.flatMap(({ name, unwell }) => (unwell ? [{ name, unwell }] : []));
  const named = (name: string, node: string): string => (name === 'local' ? node : trans.__('%1 of %2', node, name));
  return new Map(
    guarded.map(({ name, unwell }) => [name, new Map(unwell.map(one => [named(name, one.node), one.problems]))])
  );
}

/** With which nodes something more is wrong than before, and which are well again. */
export function nodes(before: Troubles, after: Troubles, trans: TranslationBundle): ReadonlyArray<INews> {
  const worse = [...after].filter(([node, all]) => all.some(one => !before.get(node)?.includes(one)));
  const well = [...before.keys()].filter(node => !after.has(node));
  const told: INews[] =
    worse.length > MANY
      ? [{ kind: 'error', ofNodes: true, text: trans.__('%1 nodes are not well.', worse.length) }]
      : worse.map(([node, all]) => ({ kind: 'error', ofNodes: true, text: `${node}: ${problemNames(all, trans).join(', ')}` }));
  if (well.length > MANY) {
    return [...told, { kind: 'success', ofNodes: true, text: trans.__('%1 nodes are well again.', well.length) }];
  }
  return [...told, ...well.map(one => fine(trans.__('%1 is well again.', one)))];
}

function fine(text: string): INews {
  return { kind: 'success', ofNodes: true, text };
}
