import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import type { IDoors, Link } from './tokens';

interface IEmptyProps {
  readonly link: Link;
  /** How many jobs there are that are not shown. */
  readonly hidden: number;
  readonly isNarrow: boolean;
  readonly widen: () => void;
  readonly doors: IDoors;
  readonly trans: TranslationBundle;
}

/** What stands where no job does. "No jobs" is said only when the server said so. */
export function Empty({ link, hidden, isNarrow, widen, doors, trans }: IEmptyProps): JSX.Element | null {
  if (link.state === 'absent') {
    return null;
  }
  if (link.state === 'connecting') {
    return <p className="aiarts-Panel-text">{trans.__('Asking the server for jobs…')}</p>;
  }
  if (isNarrow) {
    return (
      <div className="aiarts-Panel-text">
        <p>{trans.__('None of the %1 jobs is what you look for.', hidden)}</p>
        <button type="button" className="jp-mod-styled" onClick={widen}>
          {trans.__('Show all')}
        </button>
      </div>
    );
  }
  if (hidden > 0) {
    return <p className="aiarts-Panel-text">{trans.__('All jobs are finished; the settings hide finished jobs.')}</p>;
  }
  return (
    <div className="aiarts-Panel-text aiarts-Welcome">
      <p>
        <strong>{trans.__('No jobs yet.')}</strong>{' '}
        {trans.__('A job runs a script or a notebook apart from this page: on this machine or on a cluster, also when you close the browser.')}
      </p>
      <p>
        <button type="button" className="jp-mod-styled jp-mod-accept" onClick={() => doors.demo()}>
          {trans.__('Run a demo job')}
        </button>
      </p>
      <p>{trans.__('It counts for half a minute on this machine, so that you can watch, stop and delete it.')}</p>
      <p>
        <button type="button" className="jp-mod-styled" onClick={() => doors.guide()}>
          {trans.__('Show me how, step by step')}
        </button>
      </p>
      <p>{trans.__('Writes a small training script and fills the form in for it.')}</p>
      <p>
        <button type="button" className="jp-mod-styled" onClick={() => doors.newJob()}>
          {trans.__('New job…')}
        </button>
      </p>
      <p>{trans.__('Or right-click a script in the file browser, or from a terminal:')}</p>
      <pre>aiarts submit train.py</pre>
      <p>{trans.__('or from a notebook:')}</p>
      <pre>{'%load_ext jupyter_aiarts\n%aiarts submit train.py'}</pre>
    </div>
  );
}
