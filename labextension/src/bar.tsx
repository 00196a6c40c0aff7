import React from 'react';

import { share, type Level } from './amounts';

interface IProps {
  readonly label: string;
  readonly part: number | null | undefined;
  readonly whole: number | null | undefined;
  /** What stands beside it, which a screen reader says too. */
  readonly text: string;
  readonly level?: Level;
}

/** A bar that says how much of something is used; striped, and no meter, where that is not known: empty would say 0. */
export function Bar({ label, part, whole, text, level = 'fine' }: IProps): JSX.Element {
  const value = share(part ?? null, whole ?? null);
  if (value === null) {
    return <span className="aiarts-Bar" role="img" aria-label={`${label}: ${text}`} data-level="unknown" />;
  }
  const percent = Math.round(value * 1000) / 10;
  return (
    <span
      className="aiarts-Bar"
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
      aria-valuetext={text}
      data-level={level}
    >
      <span className="aiarts-Bar-fill" style={{ width: `${percent}%` }} />
    </span>
  );
}
