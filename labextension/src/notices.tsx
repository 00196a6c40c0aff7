import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import { clock } from './times';
import type { IJobManager, Link } from './tokens';
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
      <LoginNotice link={link} trans={trans} />
      {link.state === 'stale' && !link.needsLogin && <Notice>{staleText(link.since, trans)}</Notice>}
      {link.state === 'absent' && !link.needsLogin && (
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

interface ILoginProps {
  readonly link: Link;
  readonly trans: TranslationBundle;
}

/** That the page is not let in any more, and the way back; nothing where it is. */
export function LoginNotice({ link, trans }: ILoginProps): JSX.Element | null {
  if (!('needsLogin' in link)) {
    return null;
  }
  return (
    <Notice>
      {trans.__('Your login has ended: the server answers, but not to this page. Reload it and log in again.')}{' '}
      {link.state === 'stale' && trans.__('Shown is what was known at %1.', clock(link.since))}{' '}
      <button type="button" className="jp-mod-styled jp-mod-accept" onClick={() => window.location.reload()}>
        {trans.__('Reload the page')}
      </button>
    </Notice>
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
