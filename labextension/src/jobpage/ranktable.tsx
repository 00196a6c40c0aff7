import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import type { RankTable } from '../api';
import { Copy } from './pieces';

interface IProps {
  readonly table: RankTable;
  readonly trans: TranslationBundle;
}

/** The table the ranks find each other by: what the doctor says of it, its cards as rows, and the file as it is. */
export function RankTableCard({ table, trans }: IProps): JSX.Element {
  return (
    <section className="aiarts-Card" aria-label={trans.__('Rank table')}>
      <h3>
        {trans.__('Rank table')} <Copy text={table.text} what={trans.__('the rank table')} trans={trans} />
      </h3>
      <p className={table.ok ? 'aiarts-Fine' : 'aiarts-Notice'}>
        {table.ok ? trans.__('HCCL would take this table.') : trans.__('HCCL would refuse this table.')}
      </p>
      <ul className="aiarts-Checks" aria-label={trans.__('What the doctor says')}>
        {table.checks.map(({ ok, message }, index) => (
          <li key={index} data-ok={ok}>
            {message}
          </li>
        ))}
      </ul>
      {table.cards.length > 0 && <Cards table={table} trans={trans} />}
      <details>
        <summary>JSON</summary>
        <pre className="aiarts-Json">{table.text}</pre>
      </details>
    </section>
  );
}

function Cards({ table: { cards }, trans }: IProps): JSX.Element {
  const hasPods = cards.some(({ pod }) => pod);
  return (
    <table className="aiarts-Table">
      <thead>
        <tr>
          <th scope="col">{trans.__('Rank')}</th>
          <th scope="col">{trans.__('Server')}</th>
          {hasPods && <th scope="col">{trans.__('Pod')}</th>}
          <th scope="col">{trans.__('Card')}</th>
          <th scope="col">{trans.__('Card address')}</th>
        </tr>
      </thead>
      <tbody>
        {cards.map((card, index) => (
          <tr key={index}>
            <th scope="row">{card.rank}</th>
            <td>{card.server}</td>
            {hasPods && <td>{card.pod}</td>}
            <td>{card.device}</td>
            <td>{card.ip || trans.__('unknown')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
