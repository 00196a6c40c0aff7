import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import { phaseIcons } from './icons';
import { phaseLabel } from './phases';
import { PHASES } from './wire';

interface IProps {
  readonly phase: string;
  readonly trans: TranslationBundle;
}

/** A phase by shape, colour and word; one that a newer server says is shown as it is. */
export function PhaseBadge({ phase, trans }: IProps): JSX.Element {
  const known = PHASES.find(one => one === phase);
  const Icon = known && phaseIcons.get(known);
  return (
    <span className="aiarts-Phase" data-phase={phase}>
      {Icon && <Icon.react tag="span" aria-hidden="true" className="aiarts-Job-icon" />}
      {known ? phaseLabel(known, trans) : phase}
    </span>
  );
}
