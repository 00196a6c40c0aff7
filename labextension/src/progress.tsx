import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import type { Progress as Told } from './api';

interface IProgressProps {
  readonly name: string;
  readonly progress: Told;
  readonly trans: TranslationBundle;
}

/** How far the job says it is: a line along the foot of what stands for it, and the words it said. */
export function Progress({ name, progress: { text, share }, trans }: IProgressProps): JSX.Element {
  return (
    <span
      className="aiarts-Progress"
      role="progressbar"
      aria-label={trans.__('How far %1 says it is', name)}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(share * 100)}
      aria-valuetext={text}
      title={text}
    >
      <span style={{ transform: `scaleX(${share})` }} />
    </span>
  );
}
