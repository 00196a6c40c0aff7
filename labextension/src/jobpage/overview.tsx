import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import type { Job } from '../api';
import { Explanation } from './explain';
import type { JobModel } from './model';
import { Paths } from './paths';
import { Answer, Copy, shown } from './pieces';
import { Life } from './life';

interface IProps {
  readonly model: JobModel;
  readonly trans: TranslationBundle;
}

/** Why, when, what, and where its files are. */
export function Overview({ model, trans }: IProps): JSX.Element {
  return (
    <Answer part={model.job} isSaid={model.isGone} trans={trans}>
      {job => (
        <>
          {job.explanation && <Explanation model={model} why={job.explanation} trans={trans} />}
          {(job.notes ?? []).length > 0 && (
            <ul className="aiarts-Card" aria-label={trans.__('Notes')}>
              {job.notes?.map((note, index) => (
                <li key={index}>{note}</li>
              ))}
            </ul>
          )}
          <Life job={job} events={model.events.value ?? []} clock={() => model.now()} trans={trans} />
          <Paths model={model} job={job} trans={trans} />
          <Spec job={job} trans={trans} />
        </>
      )}
    </Answer>
  );
}

/** What says nothing is left out: nulls and empty lists. */
export function told(spec: object): ReadonlyArray<readonly [string, unknown]> {
  const isEmpty = (value: unknown): boolean =>
    value === null || value === undefined || (typeof value === 'object' && Object.keys(value as object).length === 0);
  return Object.entries(spec).filter(([, value]) => !isEmpty(value));
}

function Spec({ job, trans }: { readonly job: Job; readonly trans: TranslationBundle }): JSX.Element {
  return (
    <section className="aiarts-Card" aria-label={trans.__('Spec')}>
      <h3>
        {trans.__('Spec')}{' '}
        <Copy
          text={JSON.stringify(Object.fromEntries(told(job.spec)), null, 2)}
          what={trans.__('the spec')}
          trans={trans}
        />
      </h3>
      <table className="aiarts-Table">
        <tbody>
          {told(job.spec).map(([key, value]) => (
            <tr key={key}>
              <th scope="row">{key}</th>
              <td>{shown(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
