import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import type { Job, PathReport } from '../api';
import { errorText } from '../errors';
import type { JobModel } from './model';
import { Copy } from './pieces';

const KEYS = ['script', 'workdir', 'data_path', 'output_path'] as const;

/** The paths that a spec names, each by its key, and whole: what is relative begins in the working folder. */
export function pathsOf(spec: Job['spec']): ReadonlyArray<readonly [string, string]> {
  const { workdir } = spec;
  const whole = (path: string): string =>
    /^[/~]/.test(path) || !workdir?.startsWith('/') ? path : `${workdir.replace(/\/+$/, '')}/${path.replace(/^(\.\/)+/, '')}`;
  const named = KEYS.flatMap(key => (spec[key] ? [[key, whole(spec[key])] as const] : []));
  return [...named, ...(spec.mounts ?? []).map(({ target }) => ['mount', target] as const)];
}

interface IProps {
  readonly model: JobModel;
  readonly job: Job;
  readonly trans: TranslationBundle;
}

/** Every path whole, to be copied, and what it is called elsewhere. */
export function Paths({ model, job, trans }: IProps): JSX.Element | null {
  const paths = pathsOf(job.spec);
  if (paths.length === 0) {
    return null;
  }
  return (
    <section className="aiarts-Card" aria-label={trans.__('Paths')}>
      <h3>{trans.__('Paths')}</h3>
      <table className="aiarts-Table">
        <tbody>
          {paths.map(([key, path], index) => (
            <Path key={index} model={model} name={key} path={path} trans={trans} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Path({
  model,
  name,
  path,
  trans
}: Pick<IProps, 'model' | 'trans'> & { readonly name: string; readonly path: string }): JSX.Element {
  const [report, setReport] = React.useState<PathReport | string | null>(null);
  const ask = async (): Promise<void> =>
    setReport(await model.place(path).catch((error: unknown) => errorText(error, trans)));
  return (
    <tr>
      <th scope="row">{name}</th>
      <td className="aiarts-Path">
        <code>{path}</code>
        {typeof report === 'string' && <p role="alert">{report}</p>}
        {report !== null && typeof report !== 'string' && <Names report={report} trans={trans} />}
      </td>
      <td className="aiarts-Path-tools">
        <Copy text={path} what={path} trans={trans} />{' '}
        {report === null && (
          <button className="aiarts-Button" aria-label={trans.__('Where is %1?', path)} onClick={() => void ask()}>
            {trans.__('Where is it?')}
          </button>
        )}
      </td>
    </tr>
  );
}

/** What the path is called for this server, in the pod and on a node, and why it is not there if it is not. */
function Names({ report, trans }: { readonly report: PathReport; readonly trans: TranslationBundle }): JSX.Element {
  const where = (word: string): string =>
    word === 'pod' ? trans.__('in the job') : word === 'node' ? trans.__('on the node') : trans.__('for this server');
  return (
    <ul className="aiarts-Names" role="status">
      {report.views?.map((view, index) => (
        <li key={index}>
          {where(view.where)}: {view.path ? <code>{view.path}</code> : trans.__('unknown')}{' '}
          {view.visible === false && trans.__('(not there)')} {view.message}
        </li>
      ))}
      {report.reasons?.map(({ message, write }, index) => (
        <li key={`reason ${index}`}>
          {message} {write && <code>{write}</code>}
        </li>
      ))}
    </ul>
  );
}
