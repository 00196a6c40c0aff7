import type { TranslationBundle } from '@jupyterlab/translation';
import { UseSignal } from '@jupyterlab/ui-components';
import React from 'react';

import { level, UNKNOWN } from './amounts';
import type { Card, UsagePage } from './api';
import type { History } from './cell/history';
import { illness, isIll, Spark } from './cell/parts';
import { cardKey } from './cell/reading';
import { UsageLive } from './cell/usagelive';
import type { IJobManager } from './tokens';

interface IStripProps {
  readonly manager: IJobManager;
  readonly trans: TranslationBundle;
  readonly isShown: boolean;
}

/**
 * What this machine does, and did in the last ten minutes: cards, CPU, memory, disks that fill up, and whoever does not
 * tell. It is watched only while it is in sight.
 */
export function UsageStrip({ manager, trans, isShown }: IStripProps): JSX.Element {
  const live = React.useMemo(() => new UsageLive(manager), [manager]);
  React.useEffect(() => {
    if (isShown) {
      live.watch();
      return () => live.rest();
    }
    return undefined;
  }, [live, isShown]);
  return (
    <UseSignal signal={live.changed}>
      {() => (manager.usage ? <Meters usage={manager.usage} history={live.history} trans={trans} /> : null)}
    </UseSignal>
  );
}

interface IMetersProps {
  readonly usage: UsagePage;
  readonly history: History;
  readonly trans: TranslationBundle;
}

function Meters({ usage, history, trans }: IMetersProps): JSX.Element {
  const { host, devices, problems } = usage;
  return (
    <div className="aiarts-Usage" role="group" aria-label={trans.__('This machine')}>
      <Meter
        name={trans.__('CPU')}
        part={host.cpu}
        whole={host.cpus}
        text={(part, whole) => `${part.toFixed(1)} / ${whole}`}
        past={history.points('cpu')}
      />
      <Meter
        name={trans.__('Memory')}
        part={host.memory_used}
        whole={host.memory_total}
        text={(part, whole) => `${gigabytes(part)} / ${gigabytes(whole)} GB`}
        past={history.points('memory')}
      />
      {(host.disks ?? [])
        .filter(disk => level(disk.used, disk.total) !== 'fine')
        .map(disk => (
          <Meter
            key={disk.path}
            name={trans.__('Disk %1', disk.path)}
            part={disk.used}
            whole={disk.total}
            text={(part, whole) => trans.__('%1 GB left', gigabytes(whole - part))}
          />
        ))}
      {devices.map(card => (
        <Meter
          key={`${card.kind}${card.id}${card.part ?? ''}`}
          name={cardName(card)}
          part={card.utilization}
          whole={100}
          text={part => `${Math.round(part)} %`}
          past={history.points(`${cardKey(card.kind, card.id, card.part)} utilization`)}
          ill={isIll(card.health) ? illness(card.health, trans) : undefined}
        />
      ))}
      {problems.map(({ code, title, why }) => (
        <p key={`${code} ${title}`} className="aiarts-Usage-problem" title={why}>
          {title}
        </p>
      ))}
    </div>
  );
}

interface IMeterProps {
  readonly name: string;
  readonly part: number | null | undefined;
  readonly whole: number | null | undefined;
  readonly text: (part: number, whole: number) => string;
  readonly past?: ReadonlyArray<number | null>;
  /** What is wrong with it, in a word. */
  readonly ill?: string;
}

/**
 * A bar and its past as a line; what is not known is a question mark and no bar, for an empty bar would say that nothing
 * is used.
 */
function Meter({ name, part, whole, text, past, ill }: IMeterProps): JSX.Element {
  const isKnown = typeof part === 'number' && typeof whole === 'number' && whole > 0;
  const share = isKnown ? Math.min(1, Math.max(0, part / whole)) : 0;
  const told = [isKnown ? text(part, whole) : UNKNOWN, ...(ill ? [ill] : [])].join(' · ');
  return (
    <div
      className="aiarts-Meter"
      data-full={share > 0.9}
      {...(isKnown
        ? {
            role: 'meter',
            'aria-label': name,
            'aria-valuemin': 0,
            'aria-valuemax': 100,
            'aria-valuenow': Math.round(share * 100),
            'aria-valuetext': told
          }
        : {})}
    >
      <span className="aiarts-Meter-name" title={name}>
        {name}
      </span>
      <span className="aiarts-Meter-bar" aria-hidden="true">
        <span style={{ transform: `scaleX(${share})` }} />
      </span>
      {past ? <Spark points={past} most={whole ?? 0} /> : <span />}
      <span className="aiarts-Meter-text" data-ill={ill !== undefined}>
        {told}
      </span>
    </div>
  );
}

function cardName(card: Card): string {
  return `${card.kind.toUpperCase()} ${card.id}${card.part ? ` ${card.part}` : ''}`;
}

function gigabytes(bytes: number): string {
  const number = bytes / 2 ** 30;
  return number < 10 ? number.toFixed(1) : String(Math.round(number));
}
