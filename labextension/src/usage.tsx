import type { TranslationBundle } from '@jupyterlab/translation';
import { UseSignal } from '@jupyterlab/ui-components';
import React from 'react';

import { level } from './amounts';
import type { Card, UsagePage } from './api';
import type { IJobManager } from './tokens';

interface IStripProps {
  readonly manager: IJobManager;
  readonly trans: TranslationBundle;
  readonly isShown: boolean;
}

/** What this machine does now: cards, CPU, memory, disks that fill up. It is watched only while it is in sight. */
export function UsageStrip({ manager, trans, isShown }: IStripProps): JSX.Element {
  React.useEffect(() => {
    if (isShown) {
      const watch = manager.watchUsage();
      return () => watch.dispose();
    }
    return undefined;
  }, [manager, isShown]);
  return (
    <UseSignal signal={manager.usageChanged}>
      {() => (manager.usage ? <Meters usage={manager.usage} trans={trans} /> : null)}
    </UseSignal>
  );
}

function Meters({ usage, trans }: { readonly usage: UsagePage; readonly trans: TranslationBundle }): JSX.Element {
  const { host, devices } = usage;
  return (
    <div className="aiarts-Usage" role="group" aria-label={trans.__('This machine')}>
      <Meter name={trans.__('CPU')} part={host.cpu} whole={host.cpus} text={(part, whole) => `${part.toFixed(1)} / ${whole}`} />
      <Meter
        name={trans.__('Memory')}
        part={host.memory_used}
        whole={host.memory_total}
        text={(part, whole) => `${gigabytes(part)} / ${gigabytes(whole)} GB`}
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
        />
      ))}
    </div>
  );
}

interface IMeterProps {
  readonly name: string;
  readonly part: number | null | undefined;
  readonly whole: number | null | undefined;
  readonly text: (part: number, whole: number) => string;
}

/** A bar; what is not known is a question mark and no bar, for an empty bar would say that nothing is used. */
function Meter({ name, part, whole, text }: IMeterProps): JSX.Element {
  const isKnown = typeof part === 'number' && typeof whole === 'number' && whole > 0;
  const share = isKnown ? Math.min(1, Math.max(0, part / whole)) : 0;
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
            'aria-valuetext': text(part, whole)
          }
        : {})}
    >
      <span className="aiarts-Meter-name" title={name}>
        {name}
      </span>
      <span className="aiarts-Meter-bar" aria-hidden="true">
        <span style={{ transform: `scaleX(${share})` }} />
      </span>
      <span className="aiarts-Meter-text">{isKnown ? text(part, whole) : '?'}</span>
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
