import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget, UseSignal } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import React from 'react';

import { jobsIcon } from './icons';
import type { IWishes, JobsView } from './jobs';
import { type IDoors, type IJobManager, PANEL_ID } from './tokens';

/** Frames in which a list that is to come is drawn; none comes where the search finds no job. */
const PICTURES = 10;

/** The sidebar's widget; made by the panel plugin, drawn from the manager alone. What it shows is loaded when it opens. */
export class JobsPanel extends ReactWidget {
  constructor(
    private readonly _manager: IJobManager,
    private readonly _trans: TranslationBundle,
    private readonly _doors: IDoors
  ) {
    super();
    this.id = PANEL_ID;
    this.title.icon = jobsIcon;
    this.title.caption = _trans.__('AIArts jobs');
    this.addClass('aiarts-Panel');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', this.title.caption);
  }

  /** The ids of the jobs that are chosen; commands without ids mean these. */
  selected: ReadonlyArray<string> = [];

  /** Obey the user's settings, now and when they change; called by the panel plugin. */
  follow(settings: ISettingRegistry.ISettings): void {
    const read = (): void => {
      this._wishes = {
        showFinished: settings.get('showFinished').composite !== false,
        density: settings.get('density').composite === 'compact' ? 'compact' : 'comfortable'
      };
      this.update();
    };
    settings.changed.connect(read);
    read();
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this._look();
  }

  /** Whoever calls the sidebar by a command goes on with the keys there: in the list, or with what stands in its place. */
  protected override onActivateRequest(message: Message): void {
    super.onActivateRequest(message);
    this._takeKeys(PICTURES);
  }

  /** With the next picture that has a list for the jobs: one that was submitted just now may be the first. */
  private _takeKeys(pictures: number): void {
    requestAnimationFrame(() => {
      const places = ['[role=treegrid]', '.aiarts-Welcome button', '.aiarts-Panel-new'];
      const [place] = places.flatMap(one => this.node.querySelector<HTMLElement>(one) ?? []);
      if (pictures > 1 && this._manager.jobs.length > 0 && place?.getAttribute('role') !== 'treegrid') {
        this._takeKeys(pictures - 1);
      } else {
        place?.focus();
      }
    });
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this._look();
  }

  protected override onAfterHide(message: Message): void {
    super.onAfterHide(message);
    this.update();
  }

  protected override render(): JSX.Element {
    const { _View: View } = this;
    return View === null ? (
      <></>
    ) : (
      <UseSignal signal={this._manager.changed}>
        {() => (
          <View
            manager={this._manager}
            trans={this._trans}
            doors={this._doors}
            wishes={this._wishes}
            isShown={this.isVisible}
            onSelect={ids => (this.selected = ids)}
          />
        )}
      </UseSignal>
    );
  }

  private _look(): void {
    this.update();
    if (this.isVisible && this._View === null) {
      void import('./jobs').then(({ JobsView: Loaded }) => {
        this._View = Loaded;
        this.update();
      });
    }
  }

  private _View: typeof JobsView | null = null;
  private _wishes: IWishes = { showFinished: true, density: 'comfortable' };
}
