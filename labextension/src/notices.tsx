import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import type { Link } from './tokens';
import { version } from '../package.json';

interface INoticesProps {
  readonly link: Link;
  readonly serverVersion: string | null;
  readonly trans: TranslationBundle;
}

/** What the user must know before believing the list. */
export function Notices({ link, serverVersion, trans }: INoticesProps): JSX.Element {
  return (
    <>
      {link.state === 'stale' && <Notice>{staleText(link.since, trans)}</Notice>}
      {link.state === 'absent' && (
        <Notice>
          {trans.__('The AIArts server extension is not answering; trying again. Check that it is enabled with:')}
          <pre>jupyter server extension list</pre>
        </Notice>
      )}
      {serverVersion !== null && serverVersion !== version && (
        <Notice>
          {trans.__(
            'This page is AIArts %1, the server is %2. Reload the page; if this stays, restart the server.',
            version,
            serverVersion
          )}
        </Notice>
      )}
    </>
  );
}

function Notice({ children }: { readonly children: React.ReactNode }): JSX.Element {
  return (
    <div className="aiarts-Notice" role="alert">
      {children}
    </div>
  );
}

function staleText(since: Date, trans: TranslationBundle): string {
  const time = since.toLocaleTimeString(document.documentElement.lang || undefined);
  return trans.__('Stale since %1: the server does not answer, this list may be out of date.', time);
}
