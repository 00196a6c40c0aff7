import type { TranslationBundle } from '@jupyterlab/translation';
import { UseSignal } from '@jupyterlab/ui-components';
import React from 'react';

import { errorText } from '../errors';
import type { LogModel } from './model';
import { LogScroll, type ILooks } from './scroll';
import { LogTools } from './tools';

export interface ILogViewProps {
  readonly model: LogModel;
  readonly trans: TranslationBundle;
  /** The ranks that can be chosen. */
  readonly ranks: ReadonlyArray<number>;
  /** The number of the latest run. */
  readonly runs: number;
  /** Whether whatever printed it was deleted, and its log with it: nothing more comes. */
  readonly gone?: boolean;
}

/** A log with its tools; drawn by a job page and by whoever else has a `LogModel`. */
export function LogView(props: ILogViewProps): JSX.Element {
  return <UseSignal signal={props.model.changed}>{() => <Log {...props} />}</UseSignal>;
}

function Log({ model, trans, ranks, runs, gone = false }: ILogViewProps): JSX.Element {
  const [looks, setLooks] = React.useState<ILooks>({ wrap: false, times: false });
  const merged = model.rank === null && ranks.length > 1;
  const search = React.useRef<HTMLInputElement>(null);
  return (
    <div className="aiarts-Log" onKeyDown={event => onKey(event, model, search.current)}>
      <LogTools
        model={model}
        trans={trans}
        ranks={ranks}
        runs={runs}
        looks={looks}
        setLooks={setLooks}
        search={search}
      />
      {model.failure !== null && !gone && (
        <p className="aiarts-Notice" role="alert">
          {errorText(model.failure, trans)}
        </p>
      )}
      <div className="aiarts-Log-body">
        <LogScroll model={model} trans={trans} merged={merged} {...looks} />
        {model.rows.length === 0 && <Silence model={model} trans={trans} gone={gone} />}
        {!gone && <Unseen model={model} trans={trans} />}
      </div>
      {!gone && <Foot model={model} trans={trans} />}
    </div>
  );
}

type IPart = Pick<ILogViewProps, 'model' | 'trans'>;

/** "No log" is never silent. */
function Silence({ model, trans, gone }: IPart & { readonly gone: boolean }): JSX.Element | null {
  const hope = model.loading ? trans.__('Asking for the log…') : trans.__('Nothing printed yet.');
  const text = gone ? trans.__('Its log went with it.') : (model.silence ?? hope);
  if (!gone && model.silence === null && model.failure !== null && !model.loading) {
    return null; // what it failed with is told; whether anything was printed, nobody knows
  }
  return (
    <p className="aiarts-Log-silence" role="status">
      {text}
    </p>
  );
}

/** What came while the reader looked elsewhere, and the way to it. */
function Unseen({ model, trans }: IPart): JSX.Element | null {
  if (model.following) {
    return null;
  }
  const label = model.unseenMore
    ? trans.__('more than %1 new lines', model.unseen)
    : model.unseen > 0
      ? trans.__('%1 new lines', model.unseen)
      : trans.__('To the end');
  return (
    <button className="aiarts-Log-unseen jp-mod-styled jp-mod-accept" onClick={() => void model.toEnd()}>
      ↓ {label}
    </button>
  );
}

function Foot({ model, trans }: IPart): JSX.Element {
  const state = model.ended
    ? trans.__('The run has ended; this is all it printed.')
    : model.following
      ? model.failure === null && trans.__('Following.')
      : trans.__('Paused: scroll to the end to follow.');
  return (
    <p className="aiarts-Log-foot">
      {state} {model.loading && trans.__('Asking for lines…')}
    </p>
  );
}

/** The keys of a pager; the arrows and pages scroll by themselves. */
function onKey(event: React.KeyboardEvent, model: LogModel, search: HTMLInputElement | null): void {
  const inLines = (event.target as HTMLElement).getAttribute('role') === 'log';
  const acts: Readonly<Record<string, () => void>> = {
    'ctrl+f': () => search?.focus(),
    '/': () => search?.focus(),
    'ctrl+Home': () => void model.toStart(),
    'ctrl+End': () => void model.toEnd(),
    End: () => void model.toEnd(),
    ArrowUp: () => model.follow(false),
    PageUp: () => model.follow(false),
    Home: () => model.follow(false)
  };
  const key = `${event.ctrlKey || event.metaKey ? 'ctrl+' : ''}${event.key}`;
  const act = acts[key];
  if (act && (inLines || key === 'ctrl+f')) {
    act();
    if (!['ArrowUp', 'PageUp', 'Home'].includes(key)) {
      event.preventDefault();
      event.stopPropagation();
    }
  }
}
