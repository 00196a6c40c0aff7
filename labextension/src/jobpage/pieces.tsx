/**
 * Small things that several tabs show.
 */
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import { copyOrShow } from '../copying';
import { errorText } from '../errors';
import { when } from '../times';
import type { Part } from './part';

/** Copies a text and says so. */
export function Copy({
  text,
  what,
  trans
}: {
  readonly text: string;
  readonly what: string;
  readonly trans: TranslationBundle;
}): JSX.Element {
  const [done, setDone] = React.useState(false);
  const copy = (): void => {
    void copyOrShow(text, trans).then(setDone);
  };
  React.useEffect(() => {
    const timer = done ? window.setTimeout(() => setDone(false), 2000) : 0;
    return () => window.clearTimeout(timer);
  }, [done]);
  return (
    <button className="aiarts-Button" aria-label={trans.__('Copy %1', what)} onClick={copy}>
      <span role="status">{done ? trans.__('Copied') : trans.__('Copy')}</span>
    </button>
  );
}

interface IAnswerProps<T> {
  readonly part: Part<T>;
  readonly trans: TranslationBundle;
  /** Whether somebody else on the page says why there is no answer. */
  readonly isSaid?: boolean;
  readonly children: (value: T) => JSX.Element;
}

/** What was answered; that it is awaited; or why there is no answer, with a way to ask again. */
export function Answer<T>({ part, trans, isSaid, children }: IAnswerProps<T>): JSX.Element {
  return (
    <>
      {part.failure !== null && !isSaid && (
        <p className="aiarts-Notice" role="alert">
          {errorText(part.failure, trans)}{' '}
          <button className="aiarts-Button" onClick={() => void part.load()}>
            {trans.__('Ask again')}
          </button>
        </p>
      )}
      {part.value !== null ? children(part.value) : part.busy && <p role="status">{trans.__('Asking the server…')}</p>}
    </>
  );
}

/** A local time a person reads, with the exact one behind it. */
export function Time({ t }: { readonly t: string }): JSX.Element {
  const date = new Date(t);
  const isTime = !Number.isNaN(date.getTime());
  return (
    <time dateTime={isTime ? date.toISOString() : undefined} title={t}>
      {when(t)}
    </time>
  );
}

/** A value of a spec or a variable as text. */
export function shown(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
