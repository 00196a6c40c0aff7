import type { TranslationBundle } from '@jupyterlab/translation';
import { caretDownIcon, caretRightIcon, ellipsesIcon } from '@jupyterlab/ui-components';
import React from 'react';

import type { Move } from './api';
import { moveIcons, phaseIcons } from './icons';
import { moveLabel, offered } from './moving';
import { phaseLabel } from './phases';
import { Progress } from './progress';
import type { Row } from './shown';
import { ran } from './times';
import type { IDoors } from './tokens';
import type { IJob } from './wire';

/** What a hand does to the row with this index. */
export interface IRowActs {
  click(event: React.MouseEvent, index: number): void;
  /** Show what can be done, at a place of the page. */
  menu(index: number, x: number, y: number): void;
}

interface IPlace {
  readonly id: string;
  /** Among all rows, also those that are not drawn. */
  readonly index: number;
  readonly top: number;
  readonly isCursor: boolean;
  readonly acts: IRowActs;
  readonly trans: TranslationBundle;
}

interface IGroupProps extends IPlace {
  readonly row: Extract<Row, { kind: 'group' }>;
}

/** The head of a group: a phase and how many jobs are in it. */
export function GroupRow({ id, index, top, isCursor, acts, row, trans }: IGroupProps): JSX.Element {
  const Caret = row.isOpen ? caretDownIcon : caretRightIcon;
  return (
    <div
      id={id}
      className="aiarts-Group"
      role="row"
      aria-level={1}
      aria-expanded={row.isOpen}
      aria-rowindex={index + 1}
      data-cursor={isCursor}
      style={{ top }}
      onClick={event => acts.click(event, index)}
    >
      <span role="gridcell">
        <Caret.react tag="span" aria-hidden="true" className="aiarts-Group-caret" />
        <span className="aiarts-Group-name">{phaseLabel(row.phase, trans)}</span>
        <span className="aiarts-Group-count">{row.count}</span>
      </span>
    </div>
  );
}

interface IJobProps extends IPlace {
  readonly job: IJob;
  readonly why: string;
  readonly now: number;
  readonly isMine: boolean;
  readonly isSelected: boolean;
  readonly doors: IDoors;
}

/** The one move that a job's row has a button for; the others are in its menu. */
const QUICK: ReadonlyArray<Move> = ['resume', 'rerun', 'stop'];

/** One job: its name, how long it has run, where and on what, and why it waits or failed. */
export const JobRow = React.memo(function JobRow(props: IJobProps): JSX.Element {
  const { id, index, top, isCursor, acts, job, why, now, isMine, isSelected, trans, doors } = props;
  const Icon = phaseIcons.get(job.phase);
  const quick = QUICK.find(move => job.moves.includes(move));
  const QuickIcon = quick && moveIcons.get(quick);
  const time = ran(job, now);
  return (
    <div
      id={id}
      className="aiarts-Job"
      role="row"
      aria-level={2}
      aria-selected={isSelected}
      aria-rowindex={index + 1}
      data-cursor={isCursor}
      data-phase={job.phase}
      data-job={job.id}
      data-why={why !== ''}
      style={{ top }}
      onClick={event => acts.click(event, index)}
      onContextMenu={event => {
        event.preventDefault();
        event.stopPropagation();
        acts.menu(index, event.clientX, event.clientY);
      }}
    >
      <span role="gridcell" className="aiarts-Job-text">
        <span className="aiarts-Job-first">
          {Icon && <Icon.react tag="span" aria-hidden="true" className="aiarts-Job-icon" />}
          <span className="aiarts-Job-name" title={`${job.name}\n${job.id}`}>
            {job.name}
          </span>
          {time && <span className="aiarts-Job-time">{time}</span>}
        </span>
        <span className="aiarts-Job-about">
          <span className="aiarts-Heard">{phaseLabel(job.phase, trans)} </span>
          {about(job, isMine, trans)}
        </span>
        {job.progress && <Progress name={job.name} progress={job.progress} trans={trans} />}
        {why && (
          <span className="aiarts-Job-why" title={job.explanation?.why ?? why}>
            {why}
          </span>
        )}
      </span>
      <span role="gridcell" className="aiarts-Job-buttons">
        {quick && QuickIcon && (
          <button
            type="button"
            tabIndex={-1}
            title={moveLabel(quick, trans)}
            aria-label={trans.__('%1: %2', moveLabel(quick, trans), job.name)}
            onClick={event => {
              event.stopPropagation();
              doors.act(quick, [job]);
            }}
          >
            <QuickIcon.react tag="span" aria-hidden="true" />
          </button>
        )}
        {offered([job]).length > 0 && (
          <button
            type="button"
            tabIndex={-1}
            title={trans.__('More')}
            aria-label={trans.__('What can be done with %1', job.name)}
            aria-haspopup="menu"
            onClick={event => {
              event.stopPropagation();
              const { left, bottom } = event.currentTarget.getBoundingClientRect();
              acts.menu(index, left, bottom);
            }}
          >
            <ellipsesIcon.react tag="span" aria-hidden="true" />
          </button>
        )}
      </span>
    </div>
  );
});

/** How far it is, where it runs and on what; whose it is where that is somebody else. The phase is the group's. */
function about(job: IJob, isMine: boolean, trans: TranslationBundle): string {
  const { device, devices, nodes, queue } = job.spec;
  const cards = devices > 0 ? `${devices} × ${deviceName(device)}` : '';
  const size = nodes > 1 ? trans.__('%1 nodes', nodes) : '';
  return [
    job.progress?.text ?? '',
    job.cluster,
    queue ?? '',
    size,
    cards,
    job.run > 1 ? trans.__('run %1', job.run) : '',
    isMine ? '' : job.owner
  ]
    .filter(Boolean)
    .join(' · ');
}

/** `nvidia_gpu_amd64` as people call it. */
export function deviceName(device: string): string {
  return /npu/.test(device) ? 'NPU' : /gpu/.test(device) ? 'GPU' : device === 'cpu' ? 'CPU' : device;
}
