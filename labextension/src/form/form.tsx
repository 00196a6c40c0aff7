import type { TranslationBundle } from '@jupyterlab/translation';
import { UseSignal } from '@jupyterlab/ui-components';
import React from 'react';

import type { Problem, ShownQueue, Template } from '../api';
import { ApiError } from '../errors';
import type { IJobManager } from '../tokens';
import { type Form, FORMS } from './copyas';
import { type IDraft, patched, type TableKey, type TextKey, withText } from './draft';
import { advanced, essential, fitText, type IField, nodesText, quotaText } from './fields';
import { Input, Table } from './inputs';
import { parseEnv, parseParams } from './pairs';
import type { Trial } from './trial';
import { Verdict } from './verdict';

/** What the form is for: a new job, or the next run of one that is there. */
export interface IFormProps {
  readonly manager: IJobManager;
  readonly trans: TranslationBundle;
  readonly trial: Trial;
  readonly draft: IDraft;
  readonly title: string;
  readonly isEdit: boolean;
  /** Whether somebody is here for the first time and wants to be led. */
  readonly isGuided: boolean;
  readonly templates: ReadonlyArray<Template>;
  readonly queues: ReadonlyArray<ShownQueue>;
  /** Names or folders of environments on this machine. */
  readonly environments: ReadonlyArray<string>;
  /** What an edit cannot say of the parameters; empty where it can say all of it. */
  readonly unsaid: string;
  /** Why the last submission came to nothing. */
  readonly refusal: string;
  readonly isBusy: boolean;
  readonly change: (draft: IDraft) => void;
  readonly submit: () => void;
  readonly saveTemplate: () => void;
  readonly shareTemplate: (template: Template) => void;
  readonly copy: (form: Form | 'kubectl') => void;
}

/** The form: what is needed first, the rest folded away, and what would happen beside it. */
export function SubmitForm(props: IFormProps): JSX.Element {
  const { trans, trial, draft, title, isEdit, isBusy, refusal, submit } = props;
  return (
    <UseSignal signal={trial.changed}>
      {() => (
        <form
          className="aiarts-Form"
          aria-label={title}
          onSubmit={event => {
            event.preventDefault();
            submit();
          }}
          onKeyDown={event => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
              event.preventDefault();
              submit();
            }
          }}
        >
          <div className="aiarts-Form-head">
            <h2>{title}</h2>
            {!isEdit && <TemplateChoice {...props} />}
          </div>
          {props.isGuided && <Guide trans={trans} />}
          <div className="aiarts-Form-body">
            <Fields {...props} />
            <aside className="aiarts-Form-side">
              <Verdict
                trial={trial}
                loose={problems(trial).filter(({ key }) => !KNOWN.has(head(key)))}
                apply={patch => props.change(patched(draft, patch))}
                trans={trans}
              />
              {refusal && (
                <p className="aiarts-Form-refusal" role="alert">
                  {refusal}
                </p>
              )}
              <button type="submit" className="jp-mod-styled jp-mod-accept" disabled={isBusy}>
                {isEdit ? trans.__('Save') : trans.__('Submit')}
              </button>
              <CopyAs {...props} />
            </aside>
          </div>
        </form>
      )}
    </UseSignal>
  );
}

/** The example's way, in the order of the page. */
function Guide({ trans }: { readonly trans: TranslationBundle }): JSX.Element {
  return (
    <ol className="aiarts-Form-guide" aria-label={trans.__('The example, step by step')}>
      <li>{trans.__('The start file was written for you: open it from the file browser if you like.')}</li>
      <li>{trans.__('Its parameters stand below; the script gets them as --steps 20 --lr 0.1. Change one.')}</li>
      <li>{trans.__('Beside the form is said what would happen. Press Submit, or Ctrl+Enter.')}</li>
      <li>{trans.__('The job is in the sidebar: click it, or press Enter on it, and see its log and its usage.')}</li>
      <li>{trans.__('Right-click it for all that can be done: stop, run again, clone with other parameters, delete.')}</li>
    </ol>
  );
}

function TemplateChoice({ templates, draft, change, saveTemplate, shareTemplate, trans }: IFormProps): JSX.Element {
  const chosen = templates.find(({ name }) => name === draft.texts.template);
  return (
    <div className="aiarts-Form-template">
      <label>
        {trans.__('Start from')}
        <select
          className="jp-mod-styled"
          value={draft.texts.template ?? ''}
          onChange={event => change(withText(draft, 'template', event.target.value))}
        >
          <option value="">{trans.__('nothing')}</option>
          {templates.map(({ name, preset }) => (
            <option key={name} value={name}>
              {preset ? trans.__('%1 (preset)', name) : name}
            </option>
          ))}
        </select>
      </label>
      <button type="button" className="jp-mod-styled" onClick={saveTemplate}>
        {trans.__('Save as template…')}
      </button>
      {chosen && !chosen.preset && (
        <button
          type="button"
          className="jp-mod-styled"
          title={trans.__('Copies a command that saves this template for whoever runs it')}
          onClick={() => shareTemplate(chosen)}
        >
          {trans.__('Share')}
        </button>
      )}
      {chosen?.description && <span className="aiarts-Field-help">{chosen.description}</span>}
    </div>
  );
}

/** The devices that every cluster knows unless its admin says otherwise. */
const DEVICES = ['nvidia_gpu_amd64', 'huawei_npu_arm64', 'huawei_npu_amd64'] as const;
const TABLES: ReadonlyArray<TableKey> = ['params', 'env', 'secret_env'];
/** The keys that have a place in the form; problems of others are told beside it. */
const KNOWN = new Set<string>([
  ...TABLES,
  ...'name cluster device devices nodes image queue script args command environment workdir framework processes'.split(' '),
  ...'data_path output_path pass_paths mounts cpu memory_gb shm_gb priority preemptible'.split(' '),
  ...'max_restarts max_hours grace_seconds image_pull_secret rank_table run_as'.split(' ')
]);

function Fields(props: IFormProps): JSX.Element {
  const { trans, trial, draft, change, manager, environments } = props;
  const cluster = draft.texts.cluster || fallback(trial, 'cluster') || 'local';
  const here = props.queues.filter(queue => queue.cluster === cluster);
  const queues = here.filter(({ kind }) => kind !== 'local').map(({ name }) => name);
  const chosen = draft.texts.queue || trial.answer?.spec.queue;
  // Without a choice there is one queue that is meant, or nobody can say which.
  const quota = quotaText(chosen ? here.find(({ name }) => name === chosen) : here.length === 1 ? here[0] : undefined, trans);
  const seen = trial.cluster?.clusters.find(({ name }) => name === cluster);
  const nodes = trial.cluster?.nodes.filter(node => node.cluster === cluster) ?? [];
  const device = draft.texts.device || fallback(trial, 'device', cluster) || 'cpu';
  const clusters = manager.clusters.map(({ name }) => name);
  // Nodes that may not be seen, or not yet, have some device or other: then the usual ones can be taken.
  const isSeen = cluster === 'local' || (nodes.length > 0 && (seen?.fits ?? null) !== null);
  const devices = ['cpu', ...nodes.flatMap(node => node.device ?? []), ...(isSeen ? [] : DEVICES)];
  const choices: Partial<Record<TextKey, ReadonlyArray<string>>> = {
    device: choice(devices, draft.texts.device),
    cluster: choice(clusters.length > 0 ? clusters : ['local'], draft.texts.cluster),
    ...(queues.length > 0 ? { queue: choice(queues, draft.texts.queue) } : {})
  };
  const fits = device === 'cpu' || !seen ? '' : fitText(seen.fits?.[device], seen.fits !== null, trans);
  const asides: Partial<Record<TextKey, string>> = {
    devices: [fits, cluster === 'local' && device !== 'cpu' ? quota : ''].filter(Boolean).join('\n'),
    // On this machine the nodes of a job are a trial: they share its cards.
    nodes: cluster === 'local' ? '' : nodesText(nodes, device, Number(draft.texts.devices || fallback(trial, 'devices', cluster)), trans),
    queue: cluster === 'local' ? '' : quota
  };
  const input = (field: IField): JSX.Element => (
    <Input
      key={field.key}
      field={offering(field, choices[field.key], environments)}
      value={draft.texts[field.key] ?? ''}
      fallback={draft.texts[field.key] ? without(trial, field.key, cluster) : fallback(trial, field.key, cluster)}
      problems={about(trial, field.key)}
      aside={asides[field.key]}
      change={text => change(withText(draft, field.key, text))}
      trans={trans}
    />
  );
  const table = (key: TableKey, label: string, help: string): JSX.Element => (
    <Table
      label={label}
      help={help}
      rows={draft[key]}
      problems={[...(key === 'params' && props.unsaid ? [props.unsaid] : []), ...about(trial, key)]}
      isSecret={key === 'secret_env'}
      parse={key === 'params' ? parseParams : parseEnv}
      change={rows => change({ ...draft, [key]: rows })}
      trans={trans}
    />
  );
  const needed = essential(trans).filter(({ key }) => isNeeded(key, cluster, props));
  const rest = advanced(trans);
  const folded = ['secret_env', ...rest.flatMap(([, fields]) => fields.map(({ key }) => key))];
  return (
    <div className="aiarts-Form-fields">
      <div className="aiarts-Form-grid">{needed.map(input)}</div>
      {table('params', trans.__('Parameters'), trans.__('Passed as --name value; without a value --name stands alone, and "" is a value that is empty. Paste --a 1 --b 2 into a name.'))}
      {table('env', trans.__('Environment variables'), trans.__('Anybody who sees the job sees them. Paste the text of an .env file into a name.'))}
      <Advanced isTroubled={folded.some(key => about(trial, key).length > 0)} trans={trans}>
        {rest.map(([label, fields]) => (
          <fieldset key={label}>
            <legend>{label}</legend>
            <div className="aiarts-Form-grid">{fields.map(input)}</div>
          </fieldset>
        ))}
        {table('secret_env', trans.__('Secret variables'), trans.__('They reach the processes of the job and are shown nowhere.'))}
      </Advanced>
    </div>
  );
}

interface IAdvancedProps {
  readonly isTroubled: boolean;
  readonly children: React.ReactNode;
  readonly trans: TranslationBundle;
}

/** What is folded away. Trouble in it unfolds it; folding it is the reader's, who may be writing in it. */
function Advanced({ isTroubled, children, trans }: IAdvancedProps): JSX.Element {
  const [isOpen, setOpen] = React.useState(false);
  React.useEffect(() => {
    if (isTroubled) {
      setOpen(true);
    }
  }, [isTroubled]);
  return (
    <details className="aiarts-Form-advanced" open={isOpen} onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>{trans.__('Advanced')}</summary>
      {children}
    </details>
  );
}

/** What can be chosen, with what is chosen: a browser shows the first option for one that is not there. */
function choice(offered: ReadonlyArray<string>, chosen: string | undefined): ReadonlyArray<string> {
  return [...new Set([...offered, ...(chosen ? [chosen] : [])])];
}

/** A field with what the server offers for it. */
function offering(field: IField, options: IField['options'], environments: ReadonlyArray<string>): IField {
  if (field.key === 'environment') {
    return { ...field, known: environments };
  }
  return options ? { ...field, options } : field;
}

/** An image and a queue are asked for where they are used, an environment where there are some. */
function isNeeded(key: TextKey, cluster: string, { environments, draft }: IFormProps): boolean {
  if (key === 'environment') {
    return environments.length > 0 || Boolean(draft.texts.environment);
  }
  if (key === 'image') {
    return cluster !== 'local' || Boolean(draft.texts.image);
  }
  return key !== 'queue' || cluster !== 'local' || Boolean(draft.texts.queue);
}

function problems(trial: Trial): ReadonlyArray<Problem> {
  return trial.state !== 'idle' && trial.error instanceof ApiError ? trial.error.problems : [];
}

function about(trial: Trial, key: string): ReadonlyArray<string> {
  return problems(trial)
    .filter(problem => head(problem.key) === key)
    .map(problem => (problem.key === key ? problem.message : `${problem.key}: ${problem.message}`));
}

/** `env.LR` is about `env`, `mounts[0].source` about `mounts`. */
function head(key: string): string {
  return key.split(/[.[]/)[0] ?? key;
}

/** Keys whose defaults do not depend on what is started. */
const GENERAL = new Set<TextKey>([
  ...(['cluster', 'device', 'devices', 'nodes', 'cpu', 'memory_gb', 'shm_gb', 'processes', 'rank_table'] as const),
  ...(['run_as', 'queue', 'priority', 'max_restarts', 'max_hours', 'grace_seconds'] as const)
]);

/** What the server would take, as it said in its last answer, or of any job on this cluster. */
function fallback(trial: Trial, key: TextKey, cluster = ''): string {
  const { answer, defaults } = trial;
  const isOf = key === 'cluster' || defaults?.cluster === cluster;
  const value: unknown = (answer?.spec ?? (GENERAL.has(key) && isOf ? defaults : null))?.[key];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** What the server would take without what is chosen: its last answer says the choice itself, so the defaults are asked. */
function without(trial: Trial, key: TextKey, cluster: string): string {
  const { defaults } = trial;
  const isOf = defaults !== null && (key === 'cluster' || defaults.cluster === cluster);
  const value: unknown = isOf && GENERAL.has(key) ? defaults[key] : '';
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function CopyAs({ draft, trial, copy, trans }: IFormProps): JSX.Element {
  const cluster = draft.texts.cluster || trial.answer?.spec.cluster || 'local';
  const labels: Readonly<Record<Form, string>> = {
    magic: trans.__('magic'),
    command: trans.__('command'),
    python: trans.__('Python'),
    yaml: trans.__('YAML')
  };
  return (
    <div className="aiarts-Form-copy" role="group" aria-label={trans.__('Copy as')}>
      <span>{trans.__('Copy as')}</span>
      {FORMS.map(form => (
        <button key={form} type="button" onClick={() => copy(form)}>
          {labels[form]}
        </button>
      ))}
      {cluster !== 'local' && (
        <button type="button" title={trans.__('What kubectl apply makes the same job from')} onClick={() => copy('kubectl')}>
          kubectl
        </button>
      )}
    </div>
  );
}
