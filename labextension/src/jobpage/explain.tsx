import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import type { Action, Explanation as Why, Fix, Move } from '../api';
import { errorText } from '../errors';
import { Coloured } from '../logview/row';
import { moveLabel } from '../moving';
import type { JobModel } from './model';
import { Copy, shown, Time } from './pieces';

interface IProps {
  readonly model: JobModel;
  readonly why: Why;
  readonly trans: TranslationBundle;
}

/** Why the job is where it is: the cause, what shows it, what can be done. */
export function Explanation({ model, why, trans }: IProps): JSX.Element {
  const { evidence = [], actions = [] } = why;
  return (
    <section className="aiarts-Card" aria-label={trans.__('Explanation')}>
      <h3>{why.title}</h3>
      <p>{why.why}</p>
      {why.expected && (
        <p>
          {trans.__('Expected to start between:')} <Time t={why.expected.earliest} /> – <Time t={why.expected.latest} />
          . {why.expected.basis}
        </p>
      )}
      {evidence.length > 0 && (
        <>
          <h4>{trans.__('What shows it')}</h4>
          <ul className="aiarts-Evidence" aria-label={trans.__('What shows it')}>
            {evidence.map((line, index) => (
              <li key={index}>
                <Coloured text={line} />
              </li>
            ))}
          </ul>
        </>
      )}
      {actions.length > 0 && (
        <>
          <h4>{trans.__('What can be done')}</h4>
          <ul className="aiarts-Actions" aria-label={trans.__('What can be done')}>
            {actions.map(action => (
              <Suggestion key={action.id} model={model} action={action} trans={trans} />
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

/** What an action asks of its reader: `image=IMAGE` in its command means that only they know it. */
export function blanks(action: Action): ReadonlyArray<string> {
  const command = action.patch ? '' : (action.command ?? '');
  const words = command.startsWith('aiarts edit ') ? command.matchAll(/\s([\w.]+)=([A-Z][A-Z0-9_]*)(?=\s|$)/g) : [];
  return [...words].map(match => match[1] ?? '');
}

type IActionProps = Pick<IProps, 'model' | 'trans'> & { readonly action: Action };

/** First what it would change, then, when that is wanted, the change. */
function Suggestion({ model, action, trans }: IActionProps): JSX.Element {
  const [values, setValues] = React.useState<Readonly<Record<string, string>>>({});
  const [fix, setFix] = React.useState<Fix | null>(null);
  const [problem, setProblem] = React.useState<string | null>(null);
  const ask = async (dryRun: boolean): Promise<void> => {
    try {
      setFix(await model.fix({ fix: action.id, values, dry_run: dryRun }));
      setProblem(null);
    } catch (error) {
      setProblem(errorText(error, trans));
    }
  };
  return (
    <li>
      <span>{action.label}</span>{' '}
      {blanks(action).map(key => (
        <label key={key}>
          {key}{' '}
          <input
            className="jp-mod-styled"
            value={values[key] ?? ''}
            onChange={event => setValues({ ...values, [key]: event.target.value })}
          />
        </label>
      ))}
      {fix === null && (action.patch || action.command) && (
        <button
          className="aiarts-Button"
          aria-label={trans.__('Show what this does: %1', action.label)}
          onClick={() => void ask(true)}
        >
          {trans.__('Show')}
        </button>
      )}
      {fix !== null && <Change fix={fix} trans={trans} apply={() => void ask(false)} />}
      {problem && (
        <p className="aiarts-Notice" role="alert">
          {problem}
        </p>
      )}
    </li>
  );
}

function Change({
  fix,
  trans,
  apply
}: {
  readonly fix: Fix;
  readonly trans: TranslationBundle;
  readonly apply: () => void;
}): JSX.Element {
  if (fix.command !== null) {
    return (
      <p className="aiarts-Command">
        <code>{fix.command}</code> <Copy text={fix.command} what={trans.__('the command')} trans={trans} />
      </p>
    );
  }
  const named = (move: Move | null): string | null => move && moveLabel(move, trans);
  const steps = [named(fix.first), fix.changes.length > 0 ? trans.__('change') : null, named(fix.move)]
    .filter(Boolean)
    .join(' → ');
  return (
    <div className="aiarts-Change" role="status">
      {fix.changes.length > 0 && (
        <table>
          <thead>
            <tr>
              <th>{trans.__('Key')}</th>
              <th>{trans.__('Now')}</th>
              <th>{trans.__('Then')}</th>
            </tr>
          </thead>
          <tbody>
            {fix.changes.map(({ key, before, after }) => (
              <tr key={key}>
                <td>{key}</td>
                <td>{shown(before)}</td>
                <td>{shown(after)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {fix.done ? (
        <p>{trans.__('Done: %1', steps)}</p>
      ) : (
        <p>
          {steps}{' '}
          <button className="jp-mod-styled jp-mod-accept" onClick={apply}>
            {trans.__('Apply')}
          </button>
        </p>
      )}
    </div>
  );
}
