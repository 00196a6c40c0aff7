import type { TranslationBundle } from '@jupyterlab/translation';
import { UseSignal } from '@jupyterlab/ui-components';
import React from 'react';

import type { Move } from '../api';
import { jobsIcon } from '../icons';
import { LogView } from '../logview/view';
import { moveLabel, offered } from '../moving';
import { LoginNotice } from '../notices';
import { PhaseBadge } from '../phasebadge';
import { Progress } from '../progress';
import { SeenPage } from '../seenpage';
import { clock } from '../times';
import type { IJob } from '../wire';
import { EventsTab } from './events';
import { TABS, type JobModel, type Tab } from './model';
import { Overview } from './overview';
import { RanksTab } from './ranks';
import { UsageTab } from './usage';

/** Makes a move with a job, by the way that all doors go. */
export type Act = (move: Move, job: IJob) => void;

/** One job in the main area; made by the command that opens it. */
export class JobPage extends SeenPage<JobModel> {
  constructor(
    model: JobModel,
    private readonly _trans: TranslationBundle,
    private readonly _act: Act
  ) {
    super(model);
    this.id = `jupyter-aiarts-job-${model.id}`;
    this.title.icon = jobsIcon;
    model.changed.connect(this._name, this);
    this._name();
  }

  protected override render(): JSX.Element {
    return (
      <UseSignal signal={this.model.changed}>
        {() => <Page model={this.model} trans={this._trans} act={this._act} />}
      </UseSignal>
    );
  }

  private _name(): void {
    const { name } = this.model;
    if (this.title.label !== name) {
      this.title.label = name;
      this.title.caption = `${name} (${this.model.id})`;
    }
  }
}

interface IPageProps {
  readonly model: JobModel;
  readonly trans: TranslationBundle;
  readonly act: Act;
}

/** A region of its own: the widget's node is the panel of JupyterLab's tab. */
function Page(props: IPageProps): JSX.Element {
  const { model, trans } = props;
  return (
    <section className="aiarts-Page-all" aria-label={trans.__('Job %1', model.name)}>
      <Head {...props} />
      <Tabs model={model} trans={trans} />
      <div
        className="aiarts-Page-body"
        role="tabpanel"
        id={`${model.id}-panel`}
        aria-labelledby={`${model.id}-${model.tab}`}
        data-tab={model.tab}
        tabIndex={model.tab === 'logs' ? -1 : 0}
      >
        <Body model={model} trans={trans} />
      </div>
    </section>
  );
}

/** Which job, how it stands, what can be done, and what is wrong with this picture of it. */
function Head({ model, trans, act }: IPageProps): JSX.Element {
  const job = model.job.value;
  const { listed } = model;
  return (
    <header className="aiarts-Page-head">
      <h2>{model.name}</h2>
      {job && <PhaseBadge phase={job.phase} trans={trans} />}
      {job && (
        <span className="aiarts-Small">
          {listed?.progress && `${listed.progress.text} · `}
          {job.id} · {trans.__('run %1', job.run)} · {job.cluster} · {job.owner}
        </span>
      )}
      <span className="aiarts-Page-moves" role="toolbar" aria-label={trans.__('What can be done with this job')}>
        {listed && offered([listed]).map(move => (
          <button key={move} className="aiarts-Button" onClick={() => act(move, listed)}>
            {moveLabel(move, trans)}
          </button>
        ))}
      </span>
      {model.isGone && (
        <p className="aiarts-Notice" role="alert">
          {trans.__('This job was deleted. What is shown here is what was known of it.')}
        </p>
      )}
      {!model.isGone && <LoginNotice link={model.link} trans={trans} />}
      {!model.isGone && model.link.state === 'stale' && !model.link.needsLogin && (
        <p className="aiarts-Notice" role="alert">
          {trans.__('Stale since %1: the server does not answer.', clock(model.link.since))}
        </p>
      )}
      {listed?.progress && <Progress name={listed.name} progress={listed.progress} trans={trans} />}
    </header>
  );
}

/** The tabs, one of them in the order of the Tab key, the arrows between them. */
function Tabs({ model, trans }: Omit<IPageProps, 'act'>): JSX.Element {
  const bar = React.useRef<HTMLDivElement>(null);
  const names: Readonly<Record<Tab, string>> = {
    overview: trans.__('Overview'),
    logs: trans.__('Logs'),
    usage: trans.__('Usage'),
    ranks: trans.__('Environment and ranks'),
    events: trans.__('Events')
  };
  const onKey = (event: React.KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step !== 0) {
      const next = (TABS.indexOf(model.tab) + step + TABS.length) % TABS.length;
      model.look(TABS[next] ?? 'overview');
      (bar.current?.children[next] as HTMLElement | undefined)?.focus();
      event.preventDefault();
    }
  };
  return (
    <div ref={bar} className="aiarts-Tabs" role="tablist" aria-label={trans.__('Parts of the job')} onKeyDown={onKey}>
      {TABS.map(tab => (
        <button
          key={tab}
          id={`${model.id}-${tab}`}
          role="tab"
          aria-selected={tab === model.tab}
          aria-controls={`${model.id}-panel`}
          tabIndex={tab === model.tab ? 0 : -1}
          onClick={() => model.look(tab)}
        >
          {names[tab]}
        </button>
      ))}
    </div>
  );
}

function Body({ model, trans }: Omit<IPageProps, 'act'>): JSX.Element {
  switch (model.tab) {
    case 'overview':
      return <Overview model={model} trans={trans} />;
    case 'logs': {
      const job = model.job.value;
      const ranks = [...new Set(job?.ranks?.map(({ rank }) => rank) ?? [])];
      return <LogView model={model.logs} trans={trans} ranks={ranks} runs={job?.run ?? 1} gone={model.isGone} />;
    }
    case 'usage':
      return <UsageTab model={model} trans={trans} />;
    case 'ranks':
      return <RanksTab model={model} trans={trans} />;
    case 'events':
      return <EventsTab model={model} trans={trans} />;
  }
}
