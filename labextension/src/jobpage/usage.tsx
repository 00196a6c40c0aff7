import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import { megabyte, megabytes, number, size, UNKNOWN } from '../amounts';
import type { CardUse, NodeUsage, Rank, RankUse } from '../api';
import { Bar } from '../bar';
import { cardsUsed } from '../cell/cardsused';
import { Chart } from './chart';
import { plotOf, rankOf } from './history';
import type { JobModel } from './model';
import { Answer, Time } from './pieces';
import type { IChart } from './plot';

interface IProps {
  readonly model: JobModel;
  readonly trans: TranslationBundle;
}

/** What the ranks and cards of the job do, node by node, and did since its run began. */
export function UsageTab({ model, trans }: IProps): JSX.Element {
  return (
    <Answer part={model.usage} trans={trans} isSaid={model.isGone}>
      {usage => (
        <>
          {usage.nodes.length === 0 && (
            <p>{trans.__('Nobody has looked at this job: it has not started, has only just, or was over within seconds.')}</p>
          )}
          <Used model={model} nodes={usage.nodes} trans={trans} />
          {usage.nodes.map(node => (
            <Node key={node.node ?? 0} seen={node} ranks={model.job.value?.ranks ?? NO_RANKS} trans={trans} />
          ))}
        </>
      )}
    </Answer>
  );
}

/** Of the whole job, once it is over. */
function Used({ model, nodes, trans }: IProps & { readonly nodes: ReadonlyArray<NodeUsage> }): JSX.Element | null {
  const job = model.job.value;
  const cards = nodes.flatMap(({ node = 0, cards = [] }) => cards.map(({ id, most = null }) => ({ node, id, most })));
  const said = job && cardsUsed({ ...job, nodes: job.spec.nodes ?? 1 }, cards, trans);
  return said ? <p className="aiarts-Notice">{said}</p> : null;
}

const NO_RANKS: ReadonlyArray<Rank> = [];

interface INodeProps {
  readonly seen: NodeUsage;
  readonly ranks: ReadonlyArray<Rank>;
  readonly trans: TranslationBundle;
}

function Node({ seen, ranks, trans }: INodeProps): JSX.Element {
  const { node = 0, idle_since: idle, t } = seen;
  const title = trans.__('Node %1', node);
  return (
    <section className="aiarts-Card" aria-label={title}>
      <h3>{title}</h3>
      {idle && (
        <p className="aiarts-Notice">
          {trans.__('No card does anything since:')} <Time t={idle} />
        </p>
      )}
      {(seen.cards ?? []).length > 0 && <Cards seen={seen} ranks={ranks} trans={trans} />}
      {(seen.ranks ?? []).length > 0 && <Ranks seen={seen} trans={trans} />}
      {(seen.received ?? seen.sent ?? null) !== null && <Network seen={seen} trans={trans} />}
      <p className="aiarts-Small">
        {trans.__('The lines begin where the run did; it is looked at every half minute.')}
        {t && (
          <>
            {' '}
            {trans.__('Looked at:')} <Time t={t} />
          </>
        )}
      </p>
    </section>
  );
}

function Cards({ seen, ranks, trans }: INodeProps): JSX.Element {
  const { node = 0, cards = [], history } = seen;
  const charts = React.useMemo<ReadonlyArray<ITitled>>(() => {
    const label = (card: number): string => {
      const rank = rankOf(ranks, node, card);
      return rank === null ? trans.__('card %1', card) : trans.__('rank %1, card %2', rank, card);
    };
    const total = Math.max(0, ...cards.map(card => card.memory_total_mb ?? 0));
    return history
      ? [
          { title: trans.__('Busy, by card'), ...plotOf(history.cards, 'utilization', label), most: 100, text: percent },
          { title: trans.__('Memory, by card'), ...plotOf(history.cards, 'memory', label), most: total || null, text: megabyte }
        ]
      : [];
  }, [cards, history, ranks, node, trans]);
  return (
    <>
      <Charts charts={charts} />
      <table className="aiarts-Table">
        <thead>
          <tr>
            <th scope="col">{trans.__('Rank')}</th>
            <th scope="col">{trans.__('Card')}</th>
            <th scope="col">{trans.__('Busy')}</th>
            <th scope="col">{trans.__('Card memory')}</th>
            <th scope="col">{trans.__('Over the run')}</th>
            <th scope="col">{trans.__('Health')}</th>
          </tr>
        </thead>
        <tbody>
          {cards.map(card => (
            <CardRow key={card.id} card={card} rank={rankOf(ranks, node, card.id)} trans={trans} />
          ))}
        </tbody>
      </table>
    </>
  );
}

function Ranks({ seen: { ranks = [], history }, trans }: Omit<INodeProps, 'ranks'>): JSX.Element {
  const charts = React.useMemo<ReadonlyArray<ITitled>>(() => {
    const label = (rank: number): string => trans.__('rank %1', rank);
    return history
      ? [
          { title: trans.__('CPUs, by rank'), ...plotOf(history.ranks, 'cpu', label), most: null, text: cpus },
          { title: trans.__('Memory, by rank'), ...plotOf(history.ranks, 'memory', label), most: null, text: megabyte },
          { title: trans.__('Read from disks, by rank'), ...plotOf(history.ranks, 'read', label), most: null, text: speed },
          { title: trans.__('Written to disks, by rank'), ...plotOf(history.ranks, 'written', label), most: null, text: speed }
        ]
      : [];
  }, [history, trans]);
  return (
    <>
      <Charts charts={charts} />
      <table className="aiarts-Table">
        <thead>
          <tr>
            <th scope="col">{trans.__('Rank')}</th>
            <th scope="col">{trans.__('CPUs')}</th>
            <th scope="col">{trans.__('Memory')}</th>
            <th scope="col">{trans.__('Disks, read and written')}</th>
            <th scope="col">{trans.__('Over the run')}</th>
          </tr>
        </thead>
        <tbody>
          {ranks.map(rank => (
            <RankRow key={rank.rank} use={rank} trans={trans} />
          ))}
        </tbody>
      </table>
      <p className="aiarts-Small">
        {trans.__('With every process a rank started; memory that they share counts in each of them.')}
      </p>
    </>
  );
}

function RankRow({ use, trans }: { readonly use: RankUse; readonly trans: TranslationBundle }): JSX.Element {
  return (
    <tr>
      <th scope="row">{use.rank}</th>
      <td>{cpus(use.cpu)}</td>
      <td>{megabyte(use.memory_mb ?? null)}</td>
      <td>{`${speed(use.read)} · ${speed(use.written)}`}</td>
      <td>
        {trans.__(
          'CPUs mean %1, most %2; memory mean %3, most %4; disks mean %5 and %6',
          cpus(use.mean_cpu),
          cpus(use.most_cpu),
          megabyte(use.mean_memory_mb ?? null),
          megabyte(use.most_memory_mb ?? null),
          speed(use.mean_read),
          speed(use.mean_written)
        )}
      </td>
    </tr>
  );
}

/** Of a pod, which has a network of its own; its ranks share it. */
function Network({ seen, trans }: Omit<INodeProps, 'ranks'>): JSX.Element {
  const past = seen.history?.network;
  const chart = React.useMemo<ITitled | null>(() => {
    const line = (name: string, label: string): IChart['lines'][number] => ({ label, values: past?.series[name] ?? [] });
    return past
      ? {
          title: trans.__('Network'),
          times: past.times,
          lines: [line('received', trans.__('received')), line('sent', trans.__('sent'))],
          most: null,
          text: speed
        }
      : null;
  }, [past, trans]);
  return (
    <>
      {chart && <Charts charts={[chart]} />}
      <p>
        {trans.__(
          'Network: receives %1 (mean %2), sends %3 (mean %4)',
          speed(seen.received),
          speed(seen.mean_received),
          speed(seen.sent),
          speed(seen.mean_sent)
        )}
      </p>
    </>
  );
}

interface ITitled extends IChart {
  readonly title: string;
}

function Charts({ charts }: { readonly charts: ReadonlyArray<ITitled> }): JSX.Element {
  return (
    <div className="aiarts-Charts">
      {charts
        .filter(({ lines }) => lines.length > 0)
        .map(chart => (
          <Chart key={chart.title} title={chart.title} chart={chart} />
        ))}
    </div>
  );
}

const percent = (value: number | null | undefined): string => number(value ?? null, 0, ' %');
const speed = (value: number | null | undefined): string => (value === null || value === undefined ? UNKNOWN : `${size(value)}/s`);
const cpus = (value: number | null | undefined): string => number(value ?? null, 2, '');

/** Its health, and where the driver tells what it draws and how hot it is, that too. */
function stateText({ health, power_w: power, temperature_c: heat }: CardUse): string {
  const draws = typeof power === 'number' ? [number(power, 0, ' W')] : [];
  const warm = typeof heat === 'number' ? [number(heat, 0, ' °C')] : [];
  return [health ?? UNKNOWN, ...draws, ...warm].join(' · ');
}

interface ICardProps {
  readonly card: CardUse;
  readonly rank: number | null;
  readonly trans: TranslationBundle;
}

function CardRow({ card, rank, trans }: ICardProps): JSX.Element {
  const memory = megabytes(card.memory_used_mb ?? null, card.memory_total_mb ?? null);
  return (
    <tr>
      <td>{rank ?? UNKNOWN}</td>
      <th scope="row">
        {card.id} {card.name}
      </th>
      <td>
        <span className="aiarts-Level">
          <Bar
            part={card.utilization}
            whole={100}
            label={trans.__('Card %1 busy', card.id)}
            text={percent(card.utilization)}
          />
          <span>{percent(card.utilization)}</span>
        </span>
      </td>
      <td>
        <span className="aiarts-Level">
          <Bar
            part={card.memory_used_mb}
            whole={card.memory_total_mb}
            label={trans.__('Memory of card %1', card.id)}
            text={memory}
          />
          <span>{memory}</span>
        </span>
      </td>
      <td>
        {trans.__(
          'mean %1, most %2; memory mean %3, most %4',
          percent(card.mean),
          percent(card.most),
          megabyte(card.mean_memory_mb ?? null),
          megabyte(card.most_memory_mb ?? null)
        )}
      </td>
      <td>{stateText(card)}</td>
    </tr>
  );
}
