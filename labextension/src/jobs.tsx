import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import { changes } from './announce';
import { phaseIcons } from './icons';
import { isFinished, phaseLabel } from './phases';
import { Notices } from './notices';
import type { IJobManager, Link } from './tokens';
import type { IJob } from './wire';

interface IViewProps {
  readonly manager: IJobManager;
  readonly trans: TranslationBundle;
  readonly showFinished: boolean;
}

/** Everything in the sidebar: what is wrong with the picture, the jobs, and a spoken line for what changed. */
export function JobsView({ manager, trans, showFinished }: IViewProps): JSX.Element {
  const jobs = manager.jobs.filter(job => showFinished || !isFinished(job.phase));
  return (
    <>
      <h2 className="aiarts-Panel-title">{trans.__('AIArts jobs')}</h2>
      <Notices manager={manager} trans={trans} />
      {jobs.length > 0 ? <JobList jobs={jobs} trans={trans} /> : <Empty manager={manager} trans={trans} />}
      <Announcer jobs={isKnown(manager.link) ? manager.jobs : null} trans={trans} />
    </>
  );
}

/** Whether the server ever told which jobs there are. */
function isKnown(link: Link): boolean {
  return link.state === 'live' || link.state === 'stale';
}

interface IListProps {
  readonly jobs: ReadonlyArray<IJob>;
  readonly trans: TranslationBundle;
}

/** Focusable, so that the keyboard can scroll it. */
function JobList({ jobs, trans }: IListProps): JSX.Element {
  return (
    <ul className="aiarts-JobList" aria-label={trans.__('Jobs')} tabIndex={0}>
      {jobs.map(job => (
        <JobRow key={job.id} job={job} trans={trans} />
      ))}
    </ul>
  );
}

function JobRow({ job, trans }: { readonly job: IJob; readonly trans: TranslationBundle }): JSX.Element {
  const Icon = phaseIcons.get(job.phase);
  const label = phaseLabel(job.phase, trans);
  const why = job.explanation?.title ?? '';
  // "running: Running" would say it twice.
  const saysMore = why.toLowerCase() !== label.toLowerCase();
  return (
    <li className="aiarts-Job" data-phase={job.phase} data-job={job.id}>
      <span className="aiarts-Job-name" title={job.id}>
        {job.name}
      </span>
      <span className="aiarts-Job-phase">
        {Icon && <Icon.react tag="span" aria-hidden="true" className="aiarts-Job-icon" />}
        {label}
      </span>
      {saysMore && <span className="aiarts-Job-why">{why}</span>}
    </li>
  );
}

/** "No jobs" is said only when the server said so. */
function Empty({ manager, trans }: Omit<IViewProps, 'showFinished'>): JSX.Element | null {
  if (manager.link.state === 'absent') {
    return null;
  }
  if (manager.link.state === 'connecting') {
    return <p className="aiarts-Panel-text">{trans.__('Asking the server for jobs…')}</p>;
  }
  if (manager.jobs.length > 0) {
    return <p className="aiarts-Panel-text">{trans.__('All jobs are finished; the settings hide finished jobs.')}</p>;
  }
  return (
    <div className="aiarts-Panel-text">
      <p>{trans.__('No jobs yet. Submit one from a terminal:')}</p>
      <pre>aiarts submit train.py</pre>
      <p>{trans.__('or from a notebook:')}</p>
      <pre>{'%load_ext jupyter_aiarts\n%aiarts submit train.py'}</pre>
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
