/**
 * The four panels, loaded when the first output wants one.
 */
import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget, UseSignal } from '@jupyterlab/ui-components';
import React from 'react';

import '../../style/cell.css';
import { errorText, isGone } from '../errors';
import type { IJobManager } from '../tokens';

import { ClusterView } from './cluster';
import { ClusterLive } from './clusterlive';
import type { ICellDoors } from './doors';
import { JobView } from './job';
import { JobLive } from './joblive';
import { JobsTable } from './jobs';
import { JobsLive } from './jobslive';
import type { Live } from './live';
import type { Shown } from './mime';
import { Warning } from './parts';
import { UsageView } from './usage';
import { UsageLive } from './usagelive';

/** What every panel stands on; made once by the cell plugin. */
export interface IGround {
  readonly manager: IJobManager;
  readonly doors: ICellDoors;
  readonly trans: TranslationBundle;
}

type View = (isSeen: boolean) => JSX.Element;

/** One machine is looked at for all panels of a page. */
const machines = new WeakMap<IGround, UsageLive>();

/** One panel: live while `isSeen`, a picture of the last moment otherwise. */
export class Panel extends ReactWidget {
  /** `kept` is the text saved in the notebook, shown where the server knows nothing of it any more. */
  constructor(
    shown: Shown,
    private readonly _ground: IGround,
    private readonly _kept: string
  ) {
    super();
    this.addClass('aiarts-Cell');
    const [live, view, label] = this._made(shown);
    this._live = live;
    this._view = view;
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', label);
  }

  get isSeen(): boolean {
    return this._isSeen;
  }

  /** Called by the output when it comes into sight and when it goes. */
  set isSeen(value: boolean) {
    if (value === this._isSeen || this.isDisposed) {
      return;
    }
    this._isSeen = value;
    value ? this._live.watch() : this._live.rest();
    this.update();
  }

  override dispose(): void {
    if (this.isDisposed) {
      return;
    }
    this.isSeen = false;
    if (!(this._live instanceof UsageLive)) {
      this._live.dispose();
    }
    super.dispose();
  }

  protected override render(): JSX.Element {
    return <UseSignal signal={this._live.changed}>{() => this._draw()}</UseSignal>;
  }

  private _draw(): JSX.Element {
    const { trans } = this._ground;
    const { trouble } = this._live;
    if (isGone(trouble)) {
      return (
        <>
          <Warning>{trouble?.message || trans.__('The server does not know this any more.')}</Warning>
          {this._kept && <pre className="aiarts-Cell-log">{this._kept}</pre>}
        </>
      );
    }
    return (
      <>
        {trouble !== null && (
          <Warning>{errorText(trouble, trans)}</Warning>
        )}
        {this._view(this._isSeen)}
      </>
    );
  }

  private _made(shown: Shown): [Live, View, string] {
    const { manager, doors, trans } = this._ground;
    switch (shown.kind) {
      case 'usage': {
        const live = machines.get(this._ground) ?? new UsageLive(manager);
        machines.set(this._ground, live);
        const view: View = isSeen => <UsageView live={live} manager={manager} trans={trans} isSeen={isSeen} />;
        return [live, view, trans.__('What this machine is doing')];
      }
      case 'job': {
        const live = new JobLive(shown.id, manager);
        return [live, isSeen => <JobView {...{ live, doors, trans, isSeen }} />, trans.__('AIArts job')];
      }
      case 'jobs': {
        const live = new JobsLive(shown.query, shown.ids, manager);
        return [live, isSeen => <JobsTable {...{ live, doors, trans, isSeen }} />, trans.__('List of AIArts jobs')];
      }
      case 'cluster': {
        const live = new ClusterLive(shown.cluster, manager);
        return [live, () => <ClusterView live={live} trans={trans} />, trans.__('Machines and their cards')];
      }
    }
  }

  private _isSeen = false;
  private readonly _live: Live;
  private readonly _view: View;
}
