import type { JupyterFrontEnd } from '@jupyterlab/application';
import { MainAreaWidget, type WidgetTracker } from '@jupyterlab/apputils';
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import type { Job, JobRequest } from '../api';
import { errorText, isGone } from '../errors';
import { jobsIcon } from '../icons';
import { addPage, showPage } from '../pagearea';
import { wholeJob } from '../requests';
import { toast } from '../toasts';
import { Commands, type IJobManager, PANEL_ID } from '../tokens';
import type { IChange } from './draft';
import type { FormWidget } from './widget';

export type FormPage = MainAreaWidget<FormWidget>;

/** What a form was opened with, and how to open it again after a reload. */
export function argsOf({ content }: FormPage): ReadonlyPartialJSONObject {
  const { edited, isGuided, key } = content;
  const spec = content.kept as unknown as ReadonlyPartialJSONObject;
  const change = content.keptChange as unknown as ReadonlyPartialJSONObject;
  return edited ? { key, id: edited.id, how: 'edit', change } : { key, spec, isGuided };
}

/** Opens forms; made by the form plugin. */
export class FormOpener {
  constructor(
    private readonly _app: JupyterFrontEnd,
    private readonly _manager: IJobManager,
    private readonly _trans: TranslationBundle,
    private readonly _tracker: WidgetTracker<FormPage>
  ) {}

  /** Where new jobs run unless they say otherwise; empty: where the server puts them. */
  defaultCluster = '';

  follow(settings: ISettingRegistry.ISettings): void {
    const read = (): void => {
      this.defaultCluster = String(settings.get('defaultCluster').composite ?? '');
    };
    settings.changed.connect(read);
    read();
  }

  addCommand(): void {
    const trans = this._trans;
    this._app.commands.addCommand(Commands.newJob, {
      label: args => (args.isLauncher ? trans.__('AIArts job') : trans.__('New AIArts job…')),
      caption: trans.__('Submit a script or a notebook as a job'),
      icon: args => (args.isPalette ? undefined : jobsIcon),
      execute: args => this.open(args)
    });
  }

  /**
   * `{script}` or `{spec}` for a new job, `{id, how}` for one like another or for its next run; with `key`, a form of an
   * earlier visit. One of those whose job is gone fails, so that JupyterLab does not bring it back at every visit.
   */
  async open(args: ReadonlyPartialJSONObject): Promise<void> {
    const { script, spec, id, how, isGuided, key, change } = args;
    const kept = typeof key === 'string' ? key : undefined;
    const trans = this._trans;
    try {
      const job = typeof id === 'string' ? await wholeJob(this._manager, id) : null;
      const start = job ? like(job, how === 'edit') : { ...(spec as JobRequest | undefined), ...named(script) };
      const cluster = this.defaultCluster && !start.cluster ? { cluster: this.defaultCluster } : {};
      const { FormWidget: Made } = await import('./widget');
      const edited = how === 'edit' ? job : null;
      const content = new Made(this._manager, trans, { ...cluster, ...start }, edited, isGuided === true, kept);
      if (edited && change) {
        content.resume(change as unknown as IChange);
      }
      this._show(content);
    } catch (error) {
      toast(errorText(error, trans), 'error', trans);
      if (kept !== undefined && isGone(error)) {
        throw error;
      }
    }
  }

  private _show(content: FormWidget): void {
    const trans = this._trans;
    const page: FormPage = new MainAreaWidget({ content });
    content.draftChanged.connect(() => void this._tracker.save(page));
    content.done.connect((_, job) => {
      const what = `“${job.name}”`;
      const text = content.edited ? trans.__('Changed %1; the next run uses it', what) : trans.__('Submitted %1', what);
      toast(text, 'success', trans);
      this._app.shell.activateById(PANEL_ID);
    });
    void this._tracker.add(page);
    addPage(this._app, page, 'AIArts form');
    showPage(this._app, page);
  }
}

function named(script: unknown): JobRequest {
  return typeof script === 'string' && script !== '' ? { script } : {};
}

/** The spec of a job for another one; for its own next run with the names of its secrets, whose values stay. */
function like(job: Job, isEdit: boolean): JobRequest {
  const { submission_id: _, template: __, secret_env: secrets, ...spec } = job.spec as JobRequest;
  const names = Object.keys(secrets ?? {});
  const kept = names.length > 0 ? { secret_env: Object.fromEntries(names.map(name => [name, ''])) } : {};
  return isEdit ? { ...spec, ...kept } : { ...spec, ...kept, name: job.name };
}
