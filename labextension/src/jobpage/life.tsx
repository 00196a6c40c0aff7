import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import type { Event, Job } from '../api';
import { PhaseBadge } from '../phasebadge';
import { useSeconds } from '../seconds';
import { Time } from './pieces';
import { lasting, timeline, type ISpell } from './timeline';

interface IProps {
  readonly job: Job;
  readonly events: ReadonlyArray<Event>;
  /** The server's clock. */
  readonly clock: () => number;
  readonly trans: TranslationBundle;
}

const percent = (part: number): string => `${(part * 100).toFixed(2)}%`;

/** The job's life as a line, and the same as a table for whoever does not see the line. */
export function Life({ job, events, clock, trans }: IProps): JSX.Element {
  const now = useSeconds((job.ended ?? null) === null || job.phase === 'paused', clock);
  const { spells, marks } = timeline(job, events, now);
  return (
    <section className="aiarts-Card" aria-label={trans.__('Timeline')}>
      <h3>{trans.__('Timeline')}</h3>
      <div className="aiarts-Timeline" aria-hidden="true">
        {spells.map((spell, index) => (
          <span
            key={index}
            className="aiarts-Spell"
            data-kind={spell.kind}
            data-phase={spell.phase}
            title={`${title(spell, trans)} · ${lasting(spell.from, spell.until, now, trans)}`}
            style={{ left: percent(spell.left), width: percent(spell.width) }}
          />
        ))}
        {marks.map(({ at, event }, index) => (
          <span
            key={index}
            className="aiarts-Mark"
            data-type={event.type}
            title={`${event.reason}: ${event.message}`}
            style={{ left: percent(at) }}
          />
        ))}
      </div>
      <table className="aiarts-Table">
        <thead>
          <tr>
            <th scope="col">{trans.__('What')}</th>
            <th scope="col">{trans.__('From')}</th>
            <th scope="col">{trans.__('Until')}</th>
            <th scope="col">{trans.__('Took')}</th>
          </tr>
        </thead>
        <tbody>
          {spells.map((spell, index) => (
            <tr key={index}>
              <td>
                {title(spell, trans)}{' '}
                {spell.phase !== 'ended' && spell.kind === 'run' && <PhaseBadge phase={spell.phase} trans={trans} />}
              </td>
              <td>
                <Time t={spell.from} />
              </td>
              <td>{spell.until === null ? trans.__('now') : <Time t={spell.until} />}</td>
              <td>{lasting(spell.from, spell.until, now, trans)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function title(spell: ISpell, trans: TranslationBundle): string {
  switch (spell.kind) {
    case 'waiting':
      return trans.__('Waiting');
    case 'paused':
      return trans.__('Paused');
    case 'unknown':
      return trans.__('Run %1, paused for an unknown time', spell.run);
    case 'run':
      return trans.__('Run %1', spell.run);
  }
}
