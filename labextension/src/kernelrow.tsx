import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import type { Explanation, ShownKernel } from './api';
import { isLeft, type KernelModel } from './kernelmodel';

/** What `repair` can do something about. */
const MENDABLE: ReadonlyArray<string> = ['environment-gone', 'kernel-outdated'];
const LACKS_IPYKERNEL = 'ipykernel-missing';

interface IRowProps {
  readonly kernel: ShownKernel;
  readonly model: KernelModel;
  /** Open the form for a job that runs in it. */
  readonly train: () => void;
  readonly trans: TranslationBundle;
}

/** One environment: its name and whose kernel it is; opened, what it has, what is wrong and what can be done. */
export function KernelRow(props: IRowProps): JSX.Element {
  const { kernel, model, trans } = props;
  const work = model.workOf(kernel.path);
  const problems = kernel.problems ?? [];
  return (
    <li data-environment={kernel.name}>
      <details>
        <summary>
          <span className="aiarts-Kernels-name" title={kernel.path}>
            {kernel.display_name ?? kernel.name}
          </span>
          <span className="aiarts-Kernels-state">{stateText(kernel, trans)}</span>
        </summary>
        <p className="aiarts-Kernels-facts">{facts(kernel, trans).join(' · ')}</p>
        <p className="aiarts-Kernels-path">{kernel.path}</p>
        {problems.map(problem => (
          <Problem key={`${problem.code} ${problem.title}`} problem={problem} />
        ))}
        {!work && <Acts {...props} />}
      </details>
      {problems.length > 0 && !work && (
        <p className="aiarts-Kernels-problem">
          <span>{problems[0]!.title}</span>
          <Mend {...props} />
        </p>
      )}
      {work && (
        <p className="aiarts-Kernels-work" role="status">
          <span className="aiarts-Kernels-line" title={work.text}>
            {work.text}
          </span>
          {work.cancel && (
            <button type="button" className="jp-mod-styled" onClick={work.cancel}>
              {trans.__('Cancel')}
            </button>
          )}
        </p>
      )}
    </li>
  );
}

function stateText({ registered, kind }: ShownKernel, trans: TranslationBundle): string {
  switch (kind) {
    case 'gone':
      return trans.__('gone');
    case 'hidden':
      return trans.__('not for you to see');
    case 'unmarked':
      return trans.__('no environment');
  }
  return registered === null ? trans.__('no kernel') : registered === 'user' ? trans.__('for you') : trans.__('for everybody');
}

/** What it has, in the order in which people ask for it. */
function facts({ python, frameworks, kernels, owner }: ShownKernel, trans: TranslationBundle): ReadonlyArray<string> {
  return [
    ...(python ? [`Python ${python}`] : []),
    ...Object.entries(frameworks ?? {}).map(([name, version]) => `${name} ${version}`),
    ...(kernels ?? []),
    ...(owner ? [trans.__('of %1', owner)] : [])
  ];
}

function Problem({ problem }: { readonly problem: Explanation }): JSX.Element {
  return (
    <div className="aiarts-Kernels-why">
      <p>{problem.why}</p>
      {problem.evidence?.map(line => <pre key={line}>{line}</pre>)}
      {problem.actions?.map(({ id, label, command }) => (
        <React.Fragment key={id}>
          <p>{label}</p>
          {command && <code>{command}</code>}
        </React.Fragment>
      ))}
    </div>
  );
}

/** The one press that mends it, where there is one. */
function Mend({ kernel, model, trans }: IRowProps): JSX.Element | null {
  if (kernel.kind === 'hidden') {
    return null;
  }
  const codes = (kernel.problems ?? []).map(({ code }) => code);
  const lacks = codes.includes(LACKS_IPYKERNEL);
  if (!lacks && !codes.some(code => MENDABLE.includes(code))) {
    return null;
  }
  const label = lacks ? trans.__('Install ipykernel') : isLeft(kernel) ? trans.__('Remove the kernel') : trans.__('Repair');
  const act = (): Promise<void> => (kernel.kind === 'unmarked' ? model.unregister(kernel) : model.repair(kernel)); // its folder is there
  return (
    <button type="button" className="jp-mod-styled" onClick={() => void act()}>
      {label}
    </button>
  );
}

function Acts({ kernel, model, train, trans }: IRowProps): JSX.Element | null {
  if (isLeft(kernel)) {
    return null;
  }
  const button = (label: string, act: () => void, hint = ''): JSX.Element => (
    <button type="button" className="jp-mod-styled" title={hint} onClick={act}>
      {label}
    </button>
  );
  return (
    <div className="aiarts-Kernels-acts" role="group" aria-label={trans.__('What can be done with %1', kernel.name)}>
      {kernel.registered === null ? (
        <>
          {button(trans.__('Register for me'), () => void model.register(kernel, 'user'))}
          {button(trans.__('Register for everybody'), () => void model.register(kernel, 'global'))}
        </>
      ) : (
        button(trans.__('Unregister'), () => void model.unregister(kernel), trans.__('The environment itself stays as it is.'))
      )}
      {kernel.python &&
        button(trans.__('Train with it…'), train, trans.__('A new job that runs in this environment.'))}
      {button(trans.__('Examine'), () => void model.examine(kernel), trans.__('Asks its own Python whether a kernel would start.'))}
      {button(trans.__('Size'), () => void model.measure(kernel), trans.__('Counts all its files, which may take a minute.'))}
    </div>
  );
}
