import type { TranslationBundle } from '@jupyterlab/translation';
import { addIcon } from '@jupyterlab/ui-components';
import React from 'react';

import { changes } from './announce';
import { Empty } from './empty';
import { Filters } from './filters';
import { clusterIcon } from './icons';
import { JobList, type Density } from './joblist';
import { KernelSection } from './kernels';
import { moveLabel, offered } from './moving';
import { Notices } from './notices';
import { isFinished } from './phases';
import { type ISelection, NOTHING, settled } from './selection';
import { chosen, EVERYTHING, isNarrow, rowsOf } from './shown';
import type { IDoors, IJobManager, Link } from './tokens';
import { UsageStrip } from './usage';
import type { IJob, Phase } from './wire';

/** How the person wants the sidebar. */
export interface IWishes {
  readonly showFinished: boolean;
  readonly density: Density;
}

interface IViewProps {
  readonly manager: IJobManager;
  readonly trans: TranslationBundle;
  readonly doors: IDoors;
  readonly wishes: IWishes;
  /** Whether anybody can see it now. */
  readonly isShown: boolean;
  /** Told of every choice, so that commands know which jobs are meant. */
  readonly onSelect: (ids: ReadonlyArray<string>) => void;
}

/** Everything in the sidebar: what is wrong with the picture, the jobs, and a spoken line for what changed. */
export function JobsView({ manager, trans, doors, wishes, isShown, onSelect }: IViewProps): JSX.Element {
  const [filter, narrow] = React.useState(EVERYTHING);
  const [closed, setClosed] = React.useState<ReadonlySet<Phase>>(new Set());
  const [selection, setSelection] = React.useState<ISelection>(NOTHING);
  const all = manager.jobs;
  const clusters = manager.clusters; // whose a job is depends on what they say
  const open = React.useMemo(
    () => (wishes.showFinished ? all : all.filter(job => !isFinished(job.phase))),
    [all, wishes.showFinished]
  );
  const jobs = React.useMemo(() => chosen(open, filter, job => manager.isMine(job)), [open, filter, manager, clusters]);
  const rows = React.useMemo(() => rowsOf(jobs, closed), [jobs, closed]);
  const hasOthers = React.useMemo(() => all.some(job => !manager.isMine(job)), [all, manager, clusters]);
  const before = React.useRef(rows);
  const held = React.useMemo(() => settled(selection, before.current, rows), [selection, rows]);
  const picked = [...held.ids].flatMap(id => manager.job(id) ?? []);
  const select = (next: ISelection): void => {
    setSelection(next);
    onSelect([...next.ids]);
  };
  React.useLayoutEffect(() => {
    before.current = rows.length > 0 ? rows : before.current; // in an empty list nothing has a place
    if (held !== selection) {
      select(held);
    }
  });
  const fold = (phase: Phase): void => setClosed(toggled(closed, phase));
  return (
    <>
      <div className="aiarts-Panel-head">
        <h2 className="aiarts-Panel-title">{trans.__('AIArts jobs')}</h2>
        <button
          type="button"
          className="aiarts-Panel-new"
          title={trans.__('Show the cluster')}
          aria-label={trans.__('Show the cluster')}
          onClick={() => doors.cluster()}
        >
          <clusterIcon.react tag="span" aria-hidden="true" />
        </button>
        <button
          type="button"
          className="aiarts-Panel-new"
          title={trans.__('New job…')}
          aria-label={trans.__('New job…')}
          onClick={() => doors.newJob()}
        >
          <addIcon.react tag="span" aria-hidden="true" />
        </button>
      </div>
      <Notices manager={manager} trans={trans} />
      {manager.link.state === 'live' && <UsageStrip manager={manager} trans={trans} isShown={isShown} />}
      {all.length > 0 && <Filters {...{ jobs: all, hasOthers, filter, narrow, trans }} />}
      {picked.length > 1 && <Several jobs={picked} trans={trans} doors={doors} />}
      {rows.length > 0 ? (
        <JobList
          {...{ rows, manager, trans, doors, isShown, select, fold }}
          selection={held}
          density={wishes.density}
        />
      ) : (
        <Empty
          link={manager.link}
          hidden={all.length}
          isNarrow={isNarrow(filter) && open.length > 0}
          widen={() => narrow(EVERYTHING)}
          doors={doors}
          trans={trans}
        />
      )}
      <KernelSection manager={manager} trans={trans} doors={doors} />
      <Announcer jobs={isKnown(manager.link) ? all : null} trans={trans} />
    </>
  );
}

function toggled(closed: ReadonlySet<Phase>, phase: Phase): ReadonlySet<Phase> {
  return closed.has(phase) ? new Set([...closed].filter(one => one !== phase)) : new Set([...closed, phase]);
}

/** Whether the server ever told which jobs there are. */
function isKnown(link: Link): boolean {
  return link.state === 'live' || link.state === 'stale';
}

interface ISeveralProps {
  readonly jobs: ReadonlyArray<IJob>;
  readonly trans: TranslationBundle;
  readonly doors: IDoors;
}

/** What can be done with all that are chosen; each move says how many of them it is for. */
function Several({ jobs, trans, doors }: ISeveralProps): JSX.Element {
  return (
    <div className="aiarts-Several" role="toolbar" aria-label={trans.__('Chosen jobs')}>
      <span>{trans.__('%1 chosen', jobs.length)}</span>
      {offered(jobs).map(move => {
        const count = jobs.filter(job => job.moves.includes(move)).length;
        return (
          <button key={move} type="button" className="jp-mod-styled" onClick={() => doors.act(move, jobs)}>
            {count === jobs.length ? moveLabel(move, trans) : `${moveLabel(move, trans)} (${count})`}
          </button>
        );
      })}
    </div>
  );
}

interface IAnnouncerProps {
  /** `null` until the server told which jobs there are. */
  readonly jobs: ReadonlyArray<IJob> | null;
  readonly trans: TranslationBundle;
}

/** Reads phase changes out to a screen reader; the first picture is not read, it is in the list. */
function Announcer({ jobs, trans }: IAnnouncerProps): JSX.Element {
  const before = React.useRef<ReadonlyArray<IJob> | null>(null);
  const [text, setText] = React.useState('');
  React.useEffect(() => {
    const lines = before.current === null || jobs === null ? [] : changes(before.current, jobs, trans);
    before.current = jobs;
    if (lines.length > 0) {
      setText(lines.join(' '));
    }
  }, [jobs, trans]);
  return (
    <div className="aiarts-Announcer" role="status" aria-live="polite">
      {text}
    </div>
  );
}
