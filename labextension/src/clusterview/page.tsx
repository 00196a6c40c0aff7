import type { TranslationBundle } from '@jupyterlab/translation';
import { UseSignal } from '@jupyterlab/ui-components';
import React from 'react';

import type { ClusterPage as ClusterSnapshot } from '../api';
import { clusterIcon } from '../icons';
import { Answer, Time } from '../jobpage/pieces';
import { SeenPage } from '../seenpage';
import type { IJobManager } from '../tokens';
import { ClusterModel, type ISnapshot } from './model';
import { Nodes } from './nodes';
import { totals } from './picture';
import { Queues } from './queues';

export const CLUSTER_ID = 'jupyter-aiarts-cluster';

/** The machines in the main area; made by the command that opens it. */
export class ClusterPage extends SeenPage<ClusterModel> {
  constructor(
    manager: IJobManager,
    private readonly _trans: TranslationBundle,
    openJob: (id: string) => void
  ) {
    super(new ClusterModel(manager, openJob));
    this.id = CLUSTER_ID;
    this.title.icon = clusterIcon;
    this.title.label = _trans.__('AIArts cluster');
  }

  protected override render(): JSX.Element {
    return <UseSignal signal={this.model.changed}>{() => <Page model={this.model} trans={this._trans} />}</UseSignal>;
  }
}

export interface IClusterProps {
  readonly model: ClusterModel;
  readonly trans: TranslationBundle;
}

function Page({ model, trans }: IClusterProps): JSX.Element {
  return (
    <section className="aiarts-Page-all" aria-label={trans.__('AIArts cluster')}>
      <header className="aiarts-Page-head">
        <h2>{trans.__('AIArts cluster')}</h2>
        <Seen model={model} trans={trans} />
        <span className="aiarts-Page-moves">
          <button className="aiarts-Button" disabled={model.snapshot.busy} onClick={() => void model.snapshot.load()}>
            {trans.__('Look again')}
          </button>
        </span>
      </header>
      <div className="aiarts-Page-body aiarts-Cluster-body">
        <Answer part={model.snapshot} trans={trans}>
          {snapshot => <Whole snapshot={snapshot} model={model} trans={trans} />}
        </Answer>
      </div>
    </section>
  );
}

function Seen({ model, trans }: IClusterProps): JSX.Element | null {
  const clusters = model.snapshot.value?.page.clusters ?? [];
  return (
    <span className="aiarts-Small">
      {clusters.map(({ name, at, stale_since: since }) => (
        <React.Fragment key={name}>
          {name}: {since ? trans.__('stale since') : trans.__('seen')} <Time t={since ?? at} />{' '}
        </React.Fragment>
      ))}
    </span>
  );
}

function Whole({ snapshot, model, trans }: IClusterProps & { readonly snapshot: ISnapshot }): JSX.Element {
  const { page, queues } = snapshot;
  const unknown = page.clusters.flatMap(cluster => cluster.unknown);
  return (
    <>
      <Free page={page} trans={trans} />
      {unknown.map((one, index) => (
        <p key={index} className="aiarts-Notice">
          {one.title}. {one.why}
        </p>
      ))}
      {page.stuck?.map((one, index) => (
        <p key={index} className="aiarts-Notice" role="alert">
          {trans.__('%1 of %2 holds %3 cards that nobody uses.', one.name, one.owner, one.cards)} {one.node}{' '}
          <Time t={one.since} />
        </p>
      ))}
      <Nodes nodes={page.nodes} model={model} trans={trans} />
      <Queues queues={queues} trans={trans} />
    </>
  );
}

/** What is free by device, and which jobs fit now. */
function Free({ page, trans }: { readonly page: ClusterSnapshot; readonly trans: TranslationBundle }): JSX.Element | null {
  const devices = [...totals(page.nodes)];
  if (devices.length === 0) {
    return <p>{trans.__('No cards are seen here: jobs run on CPUs.')}</p>;
  }
  return (
    <section className="aiarts-Card" aria-label={trans.__('What is free')}>
      <h3>{trans.__('What is free, and how many jobs of which size fit now')}</h3>
      <table className="aiarts-Table aiarts-Free" aria-label={trans.__('What is free')}>
        <thead>
          <tr>
            <th scope="col">{trans.__('Device')}</th>
            <th scope="col">{trans.__('Free')}</th>
            {['1', '2', '4', '8'].map(size => (
              <th scope="col" key={size}>
                {size === '1' ? trans.__('of 1 card') : trans.__('of %1 cards', size)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {devices.map(([device, { cards, free }]) => (
            <tr key={device}>
              <th scope="row">{device}</th>
              <td>
                {free ?? trans.__('unknown')} / {cards}
              </td>
              {['1', '2', '4', '8'].map(size => (
                <td key={size}>{page.fits?.[device]?.[size] ?? trans.__('unknown')}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
