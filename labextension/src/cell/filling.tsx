import type { TranslationBundle } from '@jupyterlab/translation';
import { UseSignal } from '@jupyterlab/ui-components';
import React from 'react';

import { size } from '../amounts';
import type { Filling as Told } from '../api';
import { Bar } from '../bar';
import { errorText } from '../errors';
import type { IJobManager } from '../tokens';
import { Counting } from './counting';

/** Rows shown; the command line shows more. */
const MOST = 8;

interface IProps {
  readonly path: string;
  readonly manager: IJobManager;
  readonly trans: TranslationBundle;
}

/** Offers to count what takes the room of a disk that is nearly full; pressed again, or gone, it ends. */
export function Filling({ path, manager, trans }: IProps): JSX.Element {
  const counting = React.useMemo(() => new Counting(manager, path), [manager, path]);
  React.useEffect(() => () => counting.giveUp(), [counting]);
  return <UseSignal signal={counting.changed}>{() => <Counted counting={counting} trans={trans} />}</UseSignal>;
}

function Counted({ counting, trans }: Pick<IProps, 'trans'> & { readonly counting: Counting }): JSX.Element {
  const { state, path } = counting;
  return (
    <div className="aiarts-Cell-filling">
      {state.kind === 'counting' ? (
        <button type="button" className="jp-mod-styled aiarts-Cell-button" onClick={() => counting.giveUp()}>
          {trans.__('Counting %1… Cancel', path)}
        </button>
      ) : (
        <button type="button" className="jp-mod-styled aiarts-Cell-button" onClick={() => void counting.count()}>
          {trans.__('What takes the room of %1?', path)}
        </button>
      )}
      {state.kind === 'refused' && <div role="alert">{errorText(state.error, trans)}</div>}
      {state.kind === 'told' && <Takers page={state.page} trans={trans} />}
    </div>
  );
}

function Takers({ page, trans }: { readonly page: Told; readonly trans: TranslationBundle }): JSX.Element {
  return (
    <div className="aiarts-Cell-grid">
      {!page.complete && <span className="aiarts-Cell-whole">{trans.__('Not all could be counted: at least this.')}</span>}
      {page.takers.slice(0, MOST).map(one => (
        <React.Fragment key={one.name}>
          <span className="aiarts-Cell-number">{size(one.bytes)}</span>
          <Bar label={one.name} part={one.bytes} whole={page.bytes} text={size(one.bytes)} />
          <span className="aiarts-Cell-path aiarts-Cell-rest">{one.folder ? `${one.name}/` : one.name}</span>
        </React.Fragment>
      ))}
    </div>
  );
}
