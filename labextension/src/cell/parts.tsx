import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import { phaseLabel } from '../phases';
import type { Phase } from '../wire';

import type { ICellDoors } from './doors';
import { linePath } from './history';
import type { IReason, IWholeJob } from './reading';

/** The last ten minutes as a line; the newest value stands beside it as text, so it is not read out. */
export function Spark({ points, most }: { readonly points: ReadonlyArray<number | null>; readonly most: number }): JSX.Element {
  return (
    <svg className="aiarts-Spark" viewBox={`0 -5 ${points.length - 1} 110`} preserveAspectRatio="none" aria-hidden="true">
      <path d={linePath(points, most)} />
    </svg>
  );
}

/** A word of the driver that says that something is wrong; that it does not know is none. */
export function isIll(health: string | null | undefined): health is string {
  return typeof health === 'string' && health !== 'ok' && health !== 'unknown';
}

/** What is wrong with a card, in the driver's own word; that it is gone is ours. */
export function illness(health: string, trans: TranslationBundle): string {
  return health === 'gone' ? trans.__('gone') : health;
}

export function Illness({ health, trans }: { readonly health: string; readonly trans: TranslationBundle }): JSX.Element {
  return <em data-level="full">{illness(health, trans)}</em>;
}

/** Why something is as it is, and the first thing to do about it. */
export function Reason({ reason, trans }: { readonly reason: IReason; readonly trans: TranslationBundle }): JSX.Element {
  const action = reason.actions[0];
  return (
    <div className="aiarts-Cell-reason">
      <div className="aiarts-Cell-title">{reason.title}</div>
      {reason.why && reason.why !== reason.title && <div>{reason.why}</div>}
      {action && (
        <div>
          {trans.__('What to do: %1', action.label)}
          {action.command && <code>{action.command}</code>}
        </div>
      )}
    </div>
  );
}

/** Whether a title says more than the phase does: "running: Running" would say it twice. */
export function saysMore(title: string, phase: Phase, trans: TranslationBundle): boolean {
  return title.toLowerCase() !== phaseLabel(phase, trans).toLowerCase();
}

/** Something that must be known before believing what is shown. */
export function Warning({ children }: { readonly children: React.ReactNode }): JSX.Element {
  return (
    <div className="aiarts-Cell-warning" role="status">
      {children}
    </div>
  );
}

interface IJobNameProps {
  readonly job: Pick<IWholeJob, 'id' | 'name'>;
  readonly doors: ICellDoors;
}

/** The job's name, as a way to its page where there is one. */
export function JobName({ job, doors: { open } }: IJobNameProps): JSX.Element {
  return open === null ? (
    <>{job.name}</>
  ) : (
    <button type="button" className="aiarts-Link" onClick={() => open(job.id)}>
      {job.name}
    </button>
  );
}
