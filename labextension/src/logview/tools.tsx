import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import { errorText } from '../errors';
import type { LogModel } from './model';
import type { ILooks } from './scroll';

interface IToolsProps {
  readonly model: LogModel;
  readonly trans: TranslationBundle;
  readonly ranks: ReadonlyArray<number>;
  readonly runs: number;
  readonly looks: ILooks;
  readonly setLooks: (looks: ILooks) => void;
  readonly search: React.RefObject<HTMLInputElement>;
}

/** What can be done with a log, in one row. */
export function LogTools(props: IToolsProps): JSX.Element {
  const { model, trans, looks, setLooks } = props;
  return (
    <div className="aiarts-Log-tools" role="toolbar" aria-label={trans.__('Log tools')}>
      <Choices {...props} />
      <SearchBox {...props} />
      <FirstError {...props} />
      <Toggle
        label={trans.__('Fold')}
        title={trans.__('Show lines that repeat as one')}
        on={model.fold}
        set={fold => void model.choose({ fold })}
      />
      <Toggle
        label={trans.__('Wrap')}
        title={trans.__('Break long lines at the edge')}
        on={looks.wrap}
        set={wrap => setLooks({ ...looks, wrap })}
      />
      <Toggle
        label={trans.__('Times')}
        title={trans.__('Show when each line was printed')}
        on={looks.times}
        set={times => setLooks({ ...looks, times })}
      />
      <a className="aiarts-Button" href={model.fileUrl} download>
        {trans.__('Download')}
      </a>
    </div>
  );
}

/** Which rank and which run. */
function Choices({ model, trans, ranks, runs }: IToolsProps): JSX.Element {
  return (
    <>
      {ranks.length > 1 && (
        <select
          aria-label={trans.__('Rank')}
          value={model.rank ?? ''}
          onChange={event => void model.choose({ rank: event.target.value === '' ? null : Number(event.target.value) })}
        >
          <option value="">{trans.__('All ranks')}</option>
          {ranks.map(rank => (
            <option key={rank} value={rank}>
              {trans.__('Rank %1', rank)}
            </option>
          ))}
        </select>
      )}
      {runs > 1 && (
        <select
          aria-label={trans.__('Run')}
          value={model.run ?? runs}
          onChange={event => void model.choose({ run: Number(event.target.value) })}
        >
          {Array.from({ length: runs }, (_, index) => runs - index).map(run => (
            <option key={run} value={run}>
              {trans.__('Run %1', run)}
            </option>
          ))}
        </select>
      )}
    </>
  );
}

/** Looks in the whole log, on the server; Enter goes to the match before, from the newest on. */
function SearchBox({ model, trans, search }: IToolsProps): JSX.Element {
  const [pattern, setPattern] = React.useState('');
  const go = (by: 1 | -1): void => {
    const line = model.search.step(by);
    if (line) {
      void model.toLine(line);
    }
  };
  const enter = async (backwards: boolean): Promise<void> => {
    await model.look(pattern);
    if (model.search.pattern === pattern) {
      go(backwards ? 1 : -1); // nobody has looked for something else meanwhile
    }
  };
  return (
    <span className="aiarts-Log-search" role="search">
      <input
        ref={search}
        type="search"
        className="jp-mod-styled"
        aria-label={trans.__('Search the log')}
        placeholder={trans.__('Search (regular expression)')}
        value={pattern}
        maxLength={250}
        onChange={event => setPattern(event.target.value)}
        onKeyDown={event => {
          if (event.key === 'Enter') {
            void enter(event.shiftKey);
          }
        }}
      />
      <Step label={trans.__('Match before')} sign="↑" disabled={model.search.found.length === 0} go={() => go(-1)} />
      <Step label={trans.__('Match after')} sign="↓" disabled={model.search.found.length === 0} go={() => go(1)} />
      <span className="aiarts-Log-count" role="status">
        {found(model, trans)}
      </span>
    </span>
  );
}

function found({ search }: LogModel, trans: TranslationBundle): string {
  if (search.pattern === '') {
    return '';
  }
  if (search.busy) {
    return trans.__('Searching…');
  }
  if (search.failure !== null) {
    return errorText(search.failure, trans);
  }
  const count = search.found.length;
  const all = search.isMore ? trans.__('more than %1', count) : String(count);
  return search.at < 0 ? trans.__('%1 found', all) : trans.__('match %1 of %2', search.at + 1, all);
}

function Step(props: {
  readonly label: string;
  readonly sign: string;
  readonly disabled: boolean;
  readonly go: () => void;
}): JSX.Element {
  return (
    <button
      className="aiarts-Button"
      aria-label={props.label}
      title={props.label}
      disabled={props.disabled}
      onClick={props.go}
    >
      {props.sign}
    </button>
  );
}

function FirstError({ model, trans }: IToolsProps): JSX.Element {
  const [said, setSaid] = React.useState('');
  const look = async (): Promise<void> => {
    setSaid(trans.__('Searching…'));
    const there = await model.toFirstError().catch(() => null);
    setSaid(
      there === false
        ? trans.__('No line looks like an error.')
        : there === null
          ? trans.__('The log could not be searched.')
          : ''
    );
  };
  return (
    <>
      <button className="aiarts-Button" onClick={() => void look()}>
        {trans.__('First error')}
      </button>
      <span className="aiarts-Log-count" role="status">
        {said}
      </span>
    </>
  );
}

interface IToggleProps {
  readonly label: string;
  readonly title: string;
  readonly on: boolean;
  readonly set: (on: boolean) => void;
}

function Toggle({ label, title, on, set }: IToggleProps): JSX.Element {
  return (
    <button className="aiarts-Button aiarts-Toggle" aria-pressed={on} title={title} onClick={() => set(!on)}>
      {label}
    </button>
  );
}
