import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import { number, UNKNOWN } from '../amounts';
import { problemNames } from '../nodeproblems';
import { when } from '../times';

import { holder, squares, type Square } from './cards';
import type { ClusterLive } from './clusterlive';
import { Reason, Warning } from './parts';
import type { IHolding, IMachine, IMachines } from './reading';

interface IProps {
  readonly live: ClusterLive;
  readonly trans: TranslationBundle;
}

/** The machines, a square for each card and who holds it, and what fits now. */
export function ClusterView({ live, trans }: IProps): JSX.Element {
  const { page } = live;
  if (page === null) {
    return <p className="aiarts-Cell-text">{trans.__('Looking at the machines…')}</p>;
  }
  const many = new Set(page.machines.map(({ cluster }) => cluster)).size > 1;
  return (
    <>
      {page.stale.map(([cluster, since]) => (
        <Warning key={cluster}>{trans.__('%1 is away: this is what was seen at %2.', cluster, when(since))}</Warning>
      ))}
      <ul className="aiarts-Cell-machines" aria-label={trans.__('Machines')}>
        {page.machines.map(machine => (
          <MachineRow key={`${machine.cluster}/${machine.name}/${machine.device}`} machine={machine} many={many} trans={trans} />
        ))}
      </ul>
      <p className="aiarts-Cell-text">{fitsText(page, trans)}</p>
      {page.unknown.map((reason, place) => (
        <Reason key={place} reason={reason} trans={trans} />
      ))}
    </>
  );
}

interface IMachineProps {
  readonly machine: IMachine;
  readonly many: boolean;
  readonly trans: TranslationBundle;
}

function MachineRow({ machine, many, trans }: IMachineProps): JSX.Element {
  const { cards, free, held } = machine;
  const numbers =
    cards === 0 || machine.device === null
      ? trans.__('no cards; %1 of %2 CPUs free', number(machine.freeCpu, 0), number(machine.cpu, 0))
      : trans.__('%1 of %2 free', free ?? UNKNOWN, cards ?? UNKNOWN);
  return (
    <li className="aiarts-Cell-machine">
      <div className="aiarts-Cell-head">
        <strong className="aiarts-Cell-name">{many ? `${machine.cluster} / ${machine.name}` : machine.name}</strong>
        <span className="aiarts-Cell-facts">{[machine.device, numbers].filter(Boolean).join(' · ')}</span>
        {machine.ready === false && <em data-level="full">{trans.__('not ready')}</em>}
        {problemNames(machine.problems.filter(one => one !== 'not-ready'), trans).map(one => (
          <em key={one} data-level="high">
            {one}
          </em>
        ))}
      </div>
      <div className="aiarts-Cell-squares" aria-hidden="true">
        {squares(machine).map((square, place) => (
          <span key={place} className="aiarts-Cell-square" data-state={square.state} title={told(square, place, trans)}>
            {place}
          </span>
        ))}
      </div>
      {held.length > 0 && (
        <div className="aiarts-Cell-facts">{trans.__('Held by: %1', held.map(one => heldText(one, trans)).join(', '))}</div>
      )}
    </li>
  );
}

function heldText(one: IHolding, trans: TranslationBundle): string {
  const whose = one.job === null ? holder(one) : `${holder(one)} (${one.job})`;
  if (one.cards > 0) {
    return trans.__('%1 cards: %2', one.cards, whose);
  }
  return one.cpu === null ? whose : trans.__('%1 CPU: %2', one.cpu, whose);
}

function told(square: Square, place: number, trans: TranslationBundle): string {
  switch (square.state) {
    case 'free':
      return square.isGuess ? trans.__('A card that is free') : trans.__('Card %1 is free', place);
    case 'unknown':
      return trans.__('Whether card %1 is free is unknown', place);
    case 'unhealthy':
      return trans.__('A card that is not well');
    case 'held': {
      const whose = square.by.job === null ? holder(square.by) : `${holder(square.by)} (${square.by.job})`;
      return square.isGuess
        ? trans.__('Held by %1; which card it is, nobody reported', whose)
        : trans.__('Card %1 is held by %2', place, whose);
    }
  }
}

function fitsText({ fits }: IMachines, trans: TranslationBundle): string {
  if (fits === null) {
    return trans.__('What fits now is unknown.');
  }
  const each = [...fits].map(([device, counts]) => `${device}: ${counts.map(([size, count]) => `${count} × ${size}`).join(', ')}`);
  return each.length > 0 ? trans.__('Fits now, by cards: %1', each.join(' · ')) : trans.__('No machine has cards.');
}
