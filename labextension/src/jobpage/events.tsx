import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import type { JobModel } from './model';
import { Answer, Time } from './pieces';

/** What the platform did for the job, newest first. */
export function EventsTab({
  model,
  trans
}: {
  readonly model: JobModel;
  readonly trans: TranslationBundle;
}): JSX.Element {
  return (
    <Answer part={model.events} trans={trans}>
      {events => (
        <>
          {events.length === 0 && <p>{trans.__('Nothing was told of this run.')}</p>}
          <table className="aiarts-Table" aria-label={trans.__('Events')}>
            <thead>
              <tr>
                <th scope="col">{trans.__('When')}</th>
                <th scope="col">{trans.__('Reason')}</th>
                <th scope="col">{trans.__('What happened')}</th>
                <th scope="col">{trans.__('With')}</th>
              </tr>
            </thead>
            <tbody>
              {[...events].reverse().map((event, index) => (
                <tr key={index} data-type={event.type}>
                  <td>
                    <Time t={event.t} />
                  </td>
                  <td>{event.reason}</td>
                  <td>{event.message}</td>
                  <td>{event.object}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </Answer>
  );
}
