import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import { level, megabytes, number, percent, size, sizes, UNKNOWN } from '../amounts';
import { Bar } from '../bar';
import { useSeconds } from '../seconds';
import { clock } from '../times';
import type { IJobManager } from '../tokens';

import { Filling } from './filling';
import { Illness, isIll, Reason, Spark, Warning } from './parts';
import type { ICard, IDisk, IUsage } from './reading';
import type { UsageLive } from './usagelive';

interface IProps {
  readonly live: UsageLive;
  readonly manager: IJobManager;
  readonly trans: TranslationBundle;
  readonly isSeen: boolean;
}

/** This machine: CPU, memory, disks, network and each card, with the last ten minutes as lines. */
export function UsageView({ live, manager, trans, isSeen }: IProps): JSX.Element {
  useSeconds(isSeen); // so that numbers that no longer come are called old
  const { usage } = live;
  if (usage === null) {
    return <p className="aiarts-Cell-text">{trans.__('Looking at this machine…')}</p>;
  }
  return (
    <>
      {live.isOld && <Warning>{trans.__('These numbers are of %1: the server does not answer.', clock(new Date(usage.at * 1000)))}</Warning>}
      <div className="aiarts-Cell-grid">
        <Machine usage={usage} live={live} trans={trans} />
        {usage.disks.map(disk => (
          <DiskRow key={disk.path} disk={disk} trans={trans} />
        ))}
      </div>
      {usage.disks
        .filter(disk => level(disk.used, disk.total) !== 'fine')
        .map(({ path }) => (
          <Filling key={path} path={path} manager={manager} trans={trans} />
        ))}
      {usage.cards.length > 0 && <Cards cards={usage.cards} live={live} trans={trans} />}
      {usage.cards.length === 0 && usage.problems.length === 0 && (
        <p className="aiarts-Cell-text">{trans.__('No GPU or NPU is seen here.')}</p>
      )}
      {usage.problems.map(problem => (
        <Reason key={`${problem.code} ${problem.title}`} reason={problem} trans={trans} />
      ))}
    </>
  );
}

interface IMachineProps {
  readonly usage: IUsage;
  readonly live: UsageLive;
  readonly trans: TranslationBundle;
}

function Machine({ usage, live, trans }: IMachineProps): JSX.Element {
  const own = (name: string): string => (usage.own.includes(name) ? trans.__('of this container') : '');
  const cpu = `${number(usage.cpu, 1)} / ${usage.cpus ?? UNKNOWN}`;
  const memory = sizes(usage.used, usage.total);
  const received = live.history.points('received');
  return (
    <>
      <Row label={trans.__('CPU')} text={cpu} note={own('cpu')} part={usage.cpu} whole={usage.cpus}>
        <Spark points={live.history.points('cpu')} most={usage.cpus ?? 0} />
      </Row>
      <Row label={trans.__('Memory')} text={memory} note={own('memory')} part={usage.used} whole={usage.total}>
        <Spark points={live.history.points('memory')} most={usage.total ?? 0} />
      </Row>
      <span>{trans.__('Network')}</span>
      <span className="aiarts-Cell-wide">
        {trans.__('%1/s in, %2/s out', size(usage.received), size(usage.sent))}
      </span>
      <Spark points={received} most={Math.max(1, ...received.map(value => value ?? 0))} />
    </>
  );
}

function DiskRow({ disk, trans }: { readonly disk: IDisk; readonly trans: TranslationBundle }): JSX.Element {
  const how = level(disk.used, disk.total);
  const text = `${percent(disk.used, disk.total)} · ${sizes(disk.used, disk.total)}`;
  const note = how === 'fine' ? '' : how === 'full' ? trans.__('full') : trans.__('nearly full');
  return (
    <Row label={trans.__('Disk')} name={disk.path} text={text} note={note} part={disk.used} whole={disk.total} level={how}>
      <span className="aiarts-Cell-path" title={disk.path}>
        {disk.path}
      </span>
    </Row>
  );
}

interface IRowProps {
  readonly label: string;
  readonly name?: string;
  readonly text: string;
  readonly note: string;
  readonly part: number | null;
  readonly whole: number | null;
  readonly level?: ReturnType<typeof level>;
  readonly children: React.ReactNode;
}

function Row({ label, name, text, note, part, whole, level: how, children }: IRowProps): JSX.Element {
  return (
    <>
      <span>{label}</span>
      <Bar label={name ? `${label} ${name}` : label} part={part} whole={whole} text={text} level={how} />
      <span className="aiarts-Cell-number" data-level={how ?? 'fine'}>
        {text} {note && <em>{note}</em>}
      </span>
      {children}
    </>
  );
}

interface ICardsProps {
  readonly cards: ReadonlyArray<ICard>;
  readonly live: UsageLive;
  readonly trans: TranslationBundle;
}

/** Focusable, so that the keyboard can scroll it where it is wider than the cell. */
function Cards({ cards, live, trans }: ICardsProps): JSX.Element {
  return (
    <div className="aiarts-Cell-scroll" tabIndex={0} role="group" aria-label={trans.__('Cards')}>
      <table className="aiarts-Cell-table">
        <thead>
          <tr>
            <th scope="col">{trans.__('Card')}</th>
            <th scope="col" colSpan={2}>
              {trans.__('Busy')}
            </th>
            <th scope="col" colSpan={2}>
              {trans.__('Card memory')}
            </th>
            <th scope="col">{trans.__('Power')}</th>
            <th scope="col">{trans.__('Temp.')}</th>
            <th scope="col">{trans.__('Health')}</th>
            <th scope="col">{trans.__('Programs')}</th>
          </tr>
        </thead>
        <tbody>
          {cards.map(card => (
            <CardRow key={card.key} card={card} live={live} trans={trans} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function CardRow({ card, live, trans }: { readonly card: ICard } & Omit<ICardsProps, 'cards'>): JSX.Element {
  const busy = number(card.busy, 0, ' %');
  const memory = megabytes(card.used, card.total);
  return (
    <tr>
      <th scope="row">
        {card.key} <em>{card.name || UNKNOWN}</em>
      </th>
      <td className="aiarts-Cell-measure">
        <Bar label={trans.__('%1 busy', card.key)} part={card.busy} whole={100} text={busy} />
        <Spark points={live.history.points(`${card.key} utilization`)} most={100} />
      </td>
      <td className="aiarts-Cell-number">{busy}</td>
      <td className="aiarts-Cell-measure">
        <Bar label={trans.__('%1 memory', card.key)} part={card.used} whole={card.total} text={memory} />
        <Spark points={live.history.points(`${card.key} memory`)} most={card.total ?? 0} />
      </td>
      <td className="aiarts-Cell-number">{memory}</td>
      <td className="aiarts-Cell-number">{number(card.power, 0, ' W')}</td>
      <td className="aiarts-Cell-number">{number(card.heat, 0, ' °C')}</td>
      <td>{isIll(card.health) ? <Illness health={card.health} trans={trans} /> : (card.health ?? UNKNOWN)}</td>
      <td className="aiarts-Cell-programs">
        {card.programs === null ? UNKNOWN : card.programs.slice(0, 3).join(', ') + more(card.programs.length - 3)}
      </td>
    </tr>
  );
}

function more(count: number): string {
  return count > 0 ? ` +${count}` : '';
}
