import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import type { Json, Problem } from '../api';
import { ApiError, errorText } from '../errors';
import type { Trial } from './trial';

interface IVerdictProps {
  readonly trial: Trial;
  /** Problems that no input of the form is about. */
  readonly loose: ReadonlyArray<Problem>;
  readonly apply: (patch: Readonly<Record<string, Json>>) => void;
  readonly trans: TranslationBundle;
}

/** What would become of the job: whether it fits now, why not, and what to do about it, with a button where we can. */
export function Verdict({ trial, loose, apply, trans }: IVerdictProps): JSX.Element {
  const { answer, error, state } = trial;
  const kind = state === 'refused' ? 'refused' : state === 'answered' && answer ? verdict(answer.fits) : 'open';
  return (
    <section className="aiarts-Verdict" data-kind={kind} aria-label={trans.__('What would happen')} aria-live="polite" aria-busy={state === 'asking'}>
      {state === 'idle' && <p>{trans.__('Name a start file: what would happen to the job is said here while you write.')}</p>}
      {state === 'asking' && <p>{trans.__('Asking what would happen…')}</p>}
      {state === 'refused' && <Refusal error={error} loose={loose} trans={trans} />}
      {state === 'answered' && answer && (
        <>
          <h3>{answer.explanation && answer.fits !== true ? answer.explanation.title : headline(answer.fits, trans)}</h3>
          {answer.explanation && answer.fits !== true && <p>{answer.explanation.why}</p>}
          <ul className="aiarts-Verdict-actions">
            {answer.explanation?.actions?.map(action => (
              <li key={action.id}>
                {action.patch ? (
                  <button type="button" className="jp-mod-styled" onClick={() => apply(action.patch ?? {})}>
                    {action.label}
                  </button>
                ) : (
                  action.label
                )}
                {!action.patch && action.command && <code>{action.command}</code>}
              </li>
            ))}
          </ul>
          {(answer.notes ?? []).length > 0 && (
            <ul className="aiarts-Verdict-notes">
              {answer.notes?.map(note => (
                <li key={note}>{note}</li>
              ))}
            </ul>
          )}
        </>
      )}
    </section>
  );
}

function verdict(fits: boolean | null | undefined): string {
  return fits === true ? 'fits' : fits === false ? 'waits' : 'open';
}

function headline(fits: boolean | null | undefined, trans: TranslationBundle): string {
  return fits === true
    ? trans.__('It would start at once.')
    : fits === false
      ? trans.__('It would have to wait.')
      : trans.__('Nothing is wrong with it. Whether it would start at once is not known.');
}

interface IRefusalProps {
  readonly error: unknown;
  readonly loose: ReadonlyArray<Problem>;
  readonly trans: TranslationBundle;
}

function Refusal({ error, loose, trans }: IRefusalProps): JSX.Element {
  if (!(error instanceof ApiError) || error.problems.length === 0) {
    return <p role="alert">{errorText(error, trans)}</p>;
  }
  return (
    <>
      <h3>{trans.__('Not yet: see the marked fields.')}</h3>
      <ul>
        {loose.map(problem => (
          <li key={problem.key + problem.message}>
            <code>{problem.key}</code> {problem.message}
          </li>
        ))}
      </ul>
    </>
  );
}
