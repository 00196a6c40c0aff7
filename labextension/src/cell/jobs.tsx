import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import { devices } from '../amounts';
import { PhaseBadge } from '../phasebadge';
import { isFinished } from '../phases';
import { useSeconds } from '../seconds';
import { ran, when } from '../times';

import type { ICellDoors } from './doors';
import type { JobsLive } from './jobslive';
import { JobName, saysMore } from './parts';
import type { IWholeJob } from './reading';

interface IProps {
  readonly live: JobsLive;
  readonly doors: ICellDoors;
  readonly trans: TranslationBundle;
  readonly isSeen: boolean;
}

/** The list of jobs; owners only where there is more than one. */
export function JobsTable({ live, doors, trans, isSeen }: IProps): JSX.Element {
  const { jobs } = live;
  const runs = jobs?.some(job => job.started !== null && !isFinished(job.phase)) ?? false;
  const now = useSeconds(isSeen && runs, live.clock);
  if (jobs === null) {
    return <p className="aiarts-Cell-text">{trans.__('Asking the server for jobs…')}</p>;
  }
  if (jobs.length === 0) {
    return <p className="aiarts-Cell-text">{trans.__('No jobs.')}</p>;
  }
  const owners = new Set(jobs.map(({ owner }) => owner)).size > 1;
  return (
    <>
      <div className="aiarts-Cell-scroll" tabIndex={0} role="group" aria-label={trans.__('Jobs')}>
        <table className="aiarts-Cell-table">
          <thead>
            <tr>
              <th scope="col">{trans.__('Phase')}</th>
              <th scope="col">{trans.__('Name')}</th>
              <th scope="col">{trans.__('Id')}</th>
              {owners && <th scope="col">{trans.__('Owner')}</th>}
              <th scope="col">{trans.__('Takes')}</th>
              <th scope="col">{trans.__('Created')}</th>
              <th scope="col">{trans.__('Time')}</th>
              <th scope="col">{trans.__('Why')}</th>
            </tr>
          </thead>
          <tbody>
            {jobs.map(job => (
              <JobRow
                key={job.id}
                {...{ job, doors, trans, owners }}
                time={ran(job, now)}
              />
            ))}
          </tbody>
        </table>
      </div>
      {live.isCut && <p className="aiarts-Cell-text">{trans.__('Only the newest %1 are shown.', jobs.length)}</p>}
    </>
  );
}

interface IRowProps {
  readonly job: IWholeJob;
  readonly doors: ICellDoors;
  readonly trans: TranslationBundle;
  readonly owners: boolean;
  readonly time: string;
}

/** Drawn again only when something of its own changed. */
const JobRow = React.memo(function JobRow({ job, doors, trans, owners, time }: IRowProps): JSX.Element {
  const why = job.reason?.title ?? '';
  return (
    <tr>
      <td>
        <PhaseBadge phase={job.phase} trans={trans} />
      </td>
      <th scope="row" className="aiarts-Cell-name">
        <JobName job={job} doors={doors} />
      </th>
      <td>
        <code>{job.id}</code>
      </td>
      {owners && <td>{job.owner}</td>}
      <td>{devices(job)}</td>
      <td>{when(job.created)}</td>
      <td className="aiarts-Cell-number">{time}</td>
      <td className="aiarts-Cell-why">{saysMore(why, job.phase, trans) ? why : ''}</td>
    </tr>
  );
});
