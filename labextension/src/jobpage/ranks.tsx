import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import type { Rank, Variables as IVariables } from '../api';
import { PhaseBadge } from '../phasebadge';
import { sideBySide } from './envdiff';
import type { JobModel } from './model';
import { Answer } from './pieces';
import { RankTableCard } from './ranktable';

interface IProps {
  readonly model: JobModel;
  readonly trans: TranslationBundle;
}

/** The processes of the job, what each was started with, and the rank table where there is one. */
export function RanksTab({ model, trans }: IProps): JSX.Element {
  const { ranks = [], machines = [] } = model.job.value ?? {};
  return (
    <>
      {ranks.length > 0 && <Ranks ranks={ranks} machines={machines} trans={trans} />}
      <Environment model={model} trans={trans} ranks={ranks} />
      <Answer part={model.rankTable} trans={trans}>
        {table => (table === null ? <></> : <RankTableCard table={table} trans={trans} />)}
      </Answer>
    </>
  );
}

function Ranks({
  ranks,
  machines,
  trans
}: {
  readonly ranks: ReadonlyArray<Rank>;
  readonly machines: ReadonlyArray<string>;
  readonly trans: TranslationBundle;
}): JSX.Element {
  return (
    <section className="aiarts-Card" aria-label={trans.__('Ranks')}>
      <h3>{trans.__('Ranks')}</h3>
      {machines.length > 0 && <p>{trans.__('On: %1', machines.join(', '))}</p>}
      <table className="aiarts-Table">
        <thead>
          <tr>
            <th scope="col">{trans.__('Rank')}</th>
            <th scope="col">{trans.__('Node')}</th>
            <th scope="col">{trans.__('Phase')}</th>
            <th scope="col">{trans.__('Exit code')}</th>
            <th scope="col">{trans.__('Cards')}</th>
          </tr>
        </thead>
        <tbody>
          {ranks.map(rank => (
            <tr key={rank.rank}>
              <th scope="row">{rank.rank}</th>
              <td>{rank.node}</td>
              <td>
                <PhaseBadge phase={rank.phase} trans={trans} />
              </td>
              <td>{rank.exit_code ?? ''}</td>
              <td>{rank.devices ? rank.devices.join(', ') : trans.__('unknown')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** The variables of one rank, or of two with what differs. */
function Environment({ model, trans, ranks }: IProps & { readonly ranks: ReadonlyArray<Rank> }): JSX.Element {
  const [left, setLeft] = React.useState(0);
  const [right, setRight] = React.useState<number | null>(null);
  const { isGone } = model;
  const one = model.env(left);
  const other = right === null ? null : model.env(right);
  React.useEffect(() => {
    model.compare(right === null || right === left ? [left] : [left, right]);
  }, [model, left, right, one, other, isGone]); // another run has others
  return (
    <section className="aiarts-Card" aria-label={trans.__('Environment')}>
      <h3>{trans.__('Environment')}</h3>
      <p>
        <Choice label={trans.__('Rank')} ranks={ranks} value={left} set={value => setLeft(value ?? 0)} trans={trans} />{' '}
        {ranks.length > 1 && (
          <Choice label={trans.__('Compare with')} none ranks={ranks} value={right} set={setRight} trans={trans} />
        )}
      </p>
      <Answer part={one} trans={trans}>
        {variables => <Variables left={variables} right={other?.value ?? null} names={[left, right]} trans={trans} />}
      </Answer>
      {other !== null && other !== one && (
        <Answer part={other} trans={trans}>
          {() => <></>}
        </Answer>
      )}
    </section>
  );
}

interface IChoiceProps {
  readonly label: string;
  readonly ranks: ReadonlyArray<Rank>;
  readonly none?: boolean;
  readonly value: number | null;
  readonly set: (rank: number | null) => void;
  readonly trans: TranslationBundle;
}

function Choice({ label, ranks, none, value, set, trans }: IChoiceProps): JSX.Element {
  return (
    <label>
      {label}{' '}
      <select
        value={value ?? ''}
        onChange={event => set(event.target.value === '' ? null : Number(event.target.value))}
      >
        {none && <option value="">{trans.__('no other rank')}</option>}
        {(ranks.length > 0 ? ranks.map(({ rank }) => rank) : [0]).map(rank => (
          <option key={rank} value={rank}>
            {rank}
          </option>
        ))}
      </select>
    </label>
  );
}

interface IVariablesProps {
  readonly left: IVariables;
  readonly right: IVariables | null;
  readonly names: readonly [number, number | null];
  readonly trans: TranslationBundle;
}

function Variables({ left, right, names, trans }: IVariablesProps): JSX.Element {
  const [sought, setSought] = React.useState('');
  const [all, setAll] = React.useState(false);
  const word = sought.toLowerCase();
  const rows = sideBySide(left, right)
    .filter(row => right === null || all || row.differs)
    .filter(row => `${row.name} ${row.left ?? ''} ${row.right ?? ''}`.toLowerCase().includes(word));
  const value = (one: string | null | undefined): JSX.Element =>
    one === undefined ? (
      <em>{trans.__('not set')}</em>
    ) : one === null ? (
      <em>{trans.__('secret')}</em>
    ) : (
      <code>{one}</code>
    );
  return (
    <>
      <p>
        <input
          className="jp-mod-styled"
          type="search"
          aria-label={trans.__('Find a variable')}
          placeholder={trans.__('Find a variable')}
          value={sought}
          onChange={event => setSought(event.target.value)}
        />{' '}
        {right !== null && (
          <label>
            <input type="checkbox" checked={all} onChange={event => setAll(event.target.checked)} />{' '}
            {trans.__('also what is equal')}
          </label>
        )}
      </p>
      <table className="aiarts-Table">
        <thead>
          <tr>
            <th scope="col">{trans.__('Variable')}</th>
            <th scope="col">{trans.__('Rank %1', names[0])}</th>
            {right !== null && <th scope="col">{trans.__('Rank %1', names[1] ?? '')}</th>}
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <tr key={row.name} data-differs={all && row.differs}>
              <th scope="row">{row.name}</th>
              <td>{value(row.left)}</td>
              {right !== null && <td>{value(row.right)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length === 0 && (
        <p>
          {right !== null && sought === ''
            ? trans.__('The two ranks have the same variables.')
            : trans.__('Nothing found.')}
        </p>
      )}
    </>
  );
}
