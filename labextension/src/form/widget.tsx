import { InputDialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import { UUID } from '@lumino/coreutils';
import type { Message } from '@lumino/messaging';
import { Signal } from '@lumino/signaling';
import React from 'react';

import '../../style/form.css';
import type { Job, JobRequest, Template } from '../api';
import { copyOrShow } from '../copying';
import { errorText } from '../errors';
import { jobsIcon } from '../icons';
import { toast } from '../toasts';
import type { IJobManager } from '../tokens';
import { Choices } from './choices';
import { copyAs, type Form, Inexpressible, shareAs } from './copyas';
import { BLANK, draftOf, type IChange, type IDraft, newSpecOf, patchOf, rebased, specOf, unsayable } from './draft';
import { SubmitForm } from './form';
import { Freshness } from './fresh';
import { Trial } from './trial';

/** The submit form in the main area: holds the draft, and tells what came of it. */
export class FormWidget extends ReactWidget {
  /**
   * `edited` is the job whose next run this is about; without it the form makes a new one. `key` names this form among
   * all that were ever opened: what is kept for the next visit goes with it, whatever else was open on either visit.
   */
  constructor(
    private readonly _manager: IJobManager,
    private readonly _trans: TranslationBundle,
    spec: JobRequest,
    readonly edited: Job | null = null,
    readonly isGuided = false,
    readonly key = UUID.uuid4()
  ) {
    super();
    this.id = `jupyter-aiarts-form-${key}`;
    this._draft = draftOf(spec as Readonly<Record<string, unknown>>);
    this._before = edited ? this._draft : BLANK;
    this._trial = new Trial(_manager);
    this._choices = new Choices(_manager);
    this._choices.changed.connect(() => this.update());
    _manager.changed.connect(this._hear, this);
    this.title.label = edited ? _trans.__('Edit %1', edited.name) : _trans.__('New job');
    this.title.icon = jobsIcon;
    this.title.closable = true;
    this.addClass('aiarts-FormWidget');
    this._fresh = new Freshness(_manager, () => this._look());
    this._consider();
  }

  /** Emitted when the draft has changed, so that it can be kept for the next visit. */
  readonly draftChanged = new Signal<this, void>(this);
  /** Emitted with the job when it was submitted or changed; the widget closes then. */
  readonly done = new Signal<this, Job>(this);

  /** The draft as a spec, with the names of secrets and without their values: it is kept in the layout. */
  get kept(): JobRequest {
    return specOf(withoutSecrets(this._draft));
  }

  /** What is changed in an edit, kept like `kept`: the job itself may be another when it comes back. */
  get keptChange(): IChange {
    return { before: this._before, after: withoutSecrets(this._draft) };
  }

  /** Go on with an edit of an earlier visit. */
  resume(change: IChange): void {
    this._change(rebased(this._draft, change));
  }

  override dispose(): void {
    this._manager.changed.disconnect(this._hear, this);
    this._fresh.dispose();
    this._trial.dispose();
    this._choices.dispose();
    Signal.clearData(this);
    super.dispose();
  }

  /** Whoever opened it goes on writing in its first field. */
  protected override onActivateRequest(message: Message): void {
    super.onActivateRequest(message);
    this._isCalled = true;
    this._focus();
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this._fresh.show(this.isVisible);
  }

  protected override onAfterShow(): void {
    this._fresh.show(true);
  }

  protected override onAfterHide(): void {
    this._fresh.show(false);
  }

  protected override onUpdateRequest(message: Message): void {
    super.onUpdateRequest(message);
    void this.renderPromise?.then(() => this._focus());
  }

  protected override render(): JSX.Element {
    return (
      <SubmitForm
        manager={this._manager}
        trans={this._trans}
        trial={this._trial}
        draft={this._draft}
        title={this.title.label}
        isEdit={this.edited !== null}
        isGuided={this.isGuided}
        templates={this._choices.templates}
        queues={this._choices.queues}
        environments={this._choices.environments}
        unsaid={this._unsaid()}
        refusal={this._refusal}
        isBusy={this._isBusy}
        change={draft => this._change(draft)}
        submit={() => void this._submit()}
        saveTemplate={() => void this._saveTemplate()}
        shareTemplate={template => void this._shareTemplate(template)}
        copy={form => void this._copy(form)}
      />
    );
  }

  /** All that the form offers and says by itself; what is written in it is not touched. */
  private _look(): Promise<boolean> {
    void this._choices.learn();
    void this._trial.again(this._meant());
    if (this._trial.cluster === null) {
      void this._trial.learn(this._draft.texts.cluster);
    }
    return this._trial.look();
  }

  /** The clusters to choose from may be told after the form is there; all else that the manager tells is not shown here. */
  private _hear(): void {
    const clusters = this._manager.clusters.map(({ name }) => name).join(' ');
    if (clusters !== this._clusters) {
      this._clusters = clusters;
      this.update();
    }
  }

  /** The first picture may come after the call, and whoever is quicker has begun to write in another field. */
  private _focus(): void {
    const first = this.node.querySelector<HTMLElement>('[data-key="script"] input');
    if (first && this._isCalled) {
      this._isCalled = false;
      if (this.node.querySelector('input:focus, select:focus, textarea:focus') === null) {
        first.focus();
      }
    }
  }

  private _change(draft: IDraft): void {
    this._draft = draft;
    this._refusal = '';
    this._consider();
    this.update();
    this.draftChanged.emit();
  }

  /** In an edit, secrets that were not written again cannot be tried out; the server keeps them. */
  private _meant(): JobRequest {
    const { secret_env: rows } = this._draft;
    return newSpecOf(this.edited ? { ...this._draft, secret_env: rows.filter(({ value }) => value !== '') } : this._draft);
  }

  private _consider(): void {
    const spec = this._meant();
    if (spec.script || spec.command || spec.template) {
      this._trial.consider(spec);
    } else {
      this._trial.rest();
    }
  }

  /** What an edit cannot say of the parameters that are written; empty where it can say all of it. */
  private _unsaid(): string {
    const names = this.edited ? unsayable(this._before, this._draft).join(', ') : '';
    return (
      names &&
      this._trans.__('%1: a parameter without a value cannot be given in an edit. Give it a value, or clone the job.', names)
    );
  }

  private async _submit(): Promise<void> {
    if (this._isBusy) {
      return;
    }
    this._refusal = this._unsaid();
    this._isBusy = this._refusal === '';
    this.update();
    if (!this._isBusy) {
      return;
    }
    try {
      this.done.emit(await this._send());
      this.parent?.close();
    } catch (error) {
      this._refusal = errorText(error, this._trans);
      this._consider();
    }
    this._isBusy = false;
    this.update();
  }

  /** Sent twice with one id, the same draft makes one job: an answer that was lost costs nothing. */
  private async _send(): Promise<Job> {
    if (this.edited) {
      return this._manager.edit(this.edited.id, patchOf(this._before, this._draft));
    }
    const spec = newSpecOf(this._draft);
    const text = JSON.stringify(spec);
    if (this._sent.text !== text) {
      this._sent = { text, id: `lab-${crypto.getRandomValues(new Uint32Array(4)).join('-')}` };
    }
    return this._manager.submit({ ...spec, submission_id: this._sent.id });
  }

  private async _saveTemplate(): Promise<void> {
    const trans = this._trans;
    const { value: name } = await InputDialog.getText({
      title: trans.__('Save as template'),
      label: trans.__('Its name: letters, digits, dots, dashes and underscores. Secrets are not kept in it.')
    });
    if (!name) {
      return;
    }
    try {
      await this._choices.save(name, specOf(this._draft));
      toast(trans.__('Saved the template %1', name), 'success', trans);
    } catch (error) {
      toast(errorText(error, trans), 'error', trans);
    }
  }

  /** What is saved is this person's; others get it as a command of theirs. */
  private async _shareTemplate({ name, description = '', spec }: Template): Promise<void> {
    const trans = this._trans;
    try {
      if (await copyOrShow(shareAs(name, description, spec), trans)) {
        toast(trans.__('Copied. Whoever runs this command has the template %1 too.', name), 'success', trans);
      }
    } catch {
      toast(trans.__('This template has something that cannot be written in one line of options.'), 'error', trans);
    }
  }

  /** The text of a door, or the cluster's own, which only the server can make. */
  private async _copy(form: Form | 'kubectl'): Promise<void> {
    const trans = this._trans;
    const spec = specOf(this._draft);
    try {
      // Not awaited without need: browsers let a page copy only at once when somebody pressed something.
      const text = form === 'kubectl' ? await this._choices.manifest(spec) : copyAs(form, spec);
      if (await copyOrShow(text, trans)) {
        toast(trans.__('Copied'), 'info', trans, { autoClose: 2000 });
      }
    } catch (error) {
      const isWordless = error instanceof Inexpressible;
      const text = isWordless
        ? trans.__('This job has something that cannot be written in one line of options. Copy it as Python or YAML.')
        : errorText(error, trans);
      toast(text, 'error', trans);
    }
  }

  private readonly _before: IDraft;
  private readonly _choices: Choices;
  private _clusters = '';
  private _draft: IDraft;
  private readonly _fresh: Freshness;
  private _isBusy = false;
  private _isCalled = false;
  private _refusal = '';
  private _sent = { text: '', id: '' };
  private readonly _trial: Trial;
}

function withoutSecrets(draft: IDraft): IDraft {
  return { ...draft, secret_env: draft.secret_env.map(({ name }) => ({ name, value: '' })) };
}
