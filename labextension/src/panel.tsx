import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget, UseSignal } from '@jupyterlab/ui-components';
import React from 'react';

import { jobsIcon } from './icons';
import { JobsView } from './jobs';
import { PANEL_ID, type IJobManager } from './tokens';

/** The sidebar's widget; made by the panel plugin, drawn from the manager alone. */
export class JobsPanel extends ReactWidget {
  constructor(
    private readonly _manager: IJobManager,
    private readonly _trans: TranslationBundle
  ) {
    super();
    this.id = PANEL_ID;
    this.title.icon = jobsIcon;
    this.title.caption = _trans.__('AIArts jobs');
    this.addClass('aiarts-Panel');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', this.title.caption);
  }

  /** Obey the user's settings, now and when they change; called by the panel plugin. */
  follow(settings: ISettingRegistry.ISettings): void {
    const read = (): void => {
      this._showFinished = settings.get('showFinished').composite !== false;
      this.update();
    };
    settings.changed.connect(read);
    read();
  }

  protected override render(): JSX.Element {
    return (
      <UseSignal signal={this._manager.changed}>
        {() => <JobsView manager={this._manager} trans={this._trans} showFinished={this._showFinished} />}
      </UseSignal>
    );
  }

  private _showFinished = true;
}
