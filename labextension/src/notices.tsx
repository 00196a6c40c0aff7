import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import type { IJobManager } from './tokens';
import { version } from '../package.json';

interface INoticesProps {
  readonly manager: IJobManager;
  readonly trans: TranslationBundle;
}

/** What the user must know before believing the list. */
export function Notices({ manager, trans }: INoticesProps): JSX.Element {
  const { away, link, serverVersion } = manager;
  return (
    <>
      {link.state === 'stale' && <Notice>{staleText(link.since, trans)}</Notice>}
      {link.state === 'absent' && (
        <Notice>
          {trans.__('The AIArts server extension is not answering; trying again. Check that it is enabled with:')}
          <pre>jupyter server extension list</pre>
        </Notice>
      )}
      {link.state === 'live' &&
        away.map(cluster => (
          <Notice key={cluster.name}>
            {trans.__(
              'The cluster %1 does not answer since %2: its jobs are shown as they were then.',
              cluster.name,
              clock(new Date(cluster.staleSince ?? 0))
            )}
          </Notice>
        ))}
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
  return trans.__('Stale since %1: the server does not answer, this list may be out of date.', clock(since));
}

/** The time of day as the page's language writes it. */
function clock(time: Date): string {
  return time.toLocaleTimeString(document.documentElement.lang || undefined);
}
