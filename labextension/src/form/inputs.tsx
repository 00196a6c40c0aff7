import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import type { IField } from './fields';
import { type IPair, merged } from './pairs';

interface IInputProps {
  readonly field: IField;
  readonly value: string;
  /** What the server takes where nothing is given. */
  readonly fallback: string;
  readonly problems: ReadonlyArray<string>;
  /** Said below the input besides its help: what fits now. */
  readonly aside?: string;
  readonly change: (value: string) => void;
  readonly trans: TranslationBundle;
}

/** An input with its name, its help, its default and what is wrong with it, all tied together for a screen reader. */
export function Input({ field, value, fallback, problems, aside, change, trans }: IInputProps): JSX.Element {
  const id = React.useId(); // several forms may be open at once
  const common = {
    id,
    'aria-describedby': `${id}-help`,
    'aria-invalid': problems.length > 0,
    value,
    onChange: (event: React.ChangeEvent<HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement>) => change(event.target.value)
  };
  return (
    <div className="aiarts-Field" data-key={field.key} data-wrong={problems.length > 0}>
      <label htmlFor={id}>{field.label}</label>
      {field.shape === 'truth' ? (
        <input {...common} type="checkbox" checked={value === 'true'} onChange={event => change(event.target.checked ? 'true' : '')} />
      ) : field.options ? (
        <select {...common} className="jp-mod-styled">
          <option value="">{fallback ? trans.__('%1 (default)', fallback) : ''}</option>
          {field.options.map(option => (
            <option key={option} value={option}>
              {option}
            </option>
          ))}
        </select>
      ) : field.shape === 'lines' ? (
        <textarea {...common} className="jp-mod-styled" rows={2} spellCheck={false} placeholder={fallback} />
      ) : (
        <input
          {...common}
          {...(field.known ? { list: `${id}-known` } : {})}
          className="jp-mod-styled"
          inputMode={field.shape === 'number' ? 'decimal' : 'text'}
          spellCheck={false}
          autoComplete="off"
          placeholder={fallback}
        />
      )}
      {field.known && (
        <datalist id={`${id}-known`}>
          {field.known.map(one => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
      <div id={`${id}-help`} className="aiarts-Field-help">
        {problems.map(problem => (
          <p key={problem} className="aiarts-Field-problem">
            {problem}
          </p>
        ))}
        {aside && <p className="aiarts-Field-aside">{aside}</p>}
        {field.help}
      </div>
    </div>
  );
}

interface ITableProps {
  readonly label: string;
  readonly help: string;
  readonly rows: ReadonlyArray<IPair>;
  readonly problems: ReadonlyArray<string>;
  readonly isSecret?: boolean;
  /** Reads a pasted text, or says that it is none. */
  readonly parse: (text: string) => ReadonlyArray<IPair> | null;
  readonly change: (rows: ReadonlyArray<IPair>) => void;
  readonly trans: TranslationBundle;
}

/** Names and values; there is always one more row to write in, and a pasted text becomes as many rows as it has pairs. */
export function Table({ label, help, rows, problems, isSecret, parse, change, trans }: ITableProps): JSX.Element {
  const id = React.useId();
  const shown = [...rows, { name: '', value: '' }];
  const put = (index: number, pair: IPair): void => change(withoutEnd(shown.map((row, at) => (at === index ? pair : row))));
  const paste = (event: React.ClipboardEvent): void => {
    const pairs = parse(event.clipboardData.getData('text/plain'));
    if (pairs) {
      event.preventDefault();
      change(merged(rows, pairs));
    }
  };
  return (
    <fieldset className="aiarts-Pairs" data-wrong={problems.length > 0} aria-describedby={`${id}-help`}>
      <legend>{label}</legend>
      {shown.map((row, index) => (
        <div key={index} className="aiarts-Pairs-row">
          <input
            className="jp-mod-styled"
            aria-label={trans.__('%1 %2: name', label, index + 1)}
            placeholder={trans.__('name')}
            spellCheck={false}
            value={row.name}
            onPaste={paste}
            onChange={event => put(index, { ...row, name: event.target.value })}
          />
          <input
            className="jp-mod-styled"
            type={isSecret ? 'password' : 'text'}
            autoComplete="off"
            aria-label={trans.__('%1 %2: value', label, index + 1)}
            placeholder={trans.__('value')}
            spellCheck={false}
            value={row.value}
            onChange={event => put(index, { ...row, value: event.target.value })}
          />
          <button
            type="button"
            disabled={index === rows.length}
            aria-label={trans.__('Remove %1', row.name || index + 1)}
            onClick={() => change(rows.filter((_, at) => at !== index))}
          >
            ×
          </button>
        </div>
      ))}
      <div id={`${id}-help`} className="aiarts-Field-help">
        {problems.map(problem => (
          <p key={problem} className="aiarts-Field-problem">
            {problem}
          </p>
        ))}
        {help}
      </div>
    </fieldset>
  );
}

/** Rows that are empty at the end go; others stay, for whoever empties one to write it anew is still in it. */
function withoutEnd(rows: ReadonlyArray<IPair>): ReadonlyArray<IPair> {
  const empty = [...rows].reverse().findIndex(({ name, value }) => name !== '' || value !== '');
  return rows.slice(0, empty < 0 ? 0 : rows.length - empty);
}
