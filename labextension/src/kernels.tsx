import type { TranslationBundle } from '@jupyterlab/translation';
import { UseSignal } from '@jupyterlab/ui-components';
import React from 'react';

import type { ShownKernel } from './api';
import { KernelFolder } from './kernelfolder';
import { isLeft, KernelModel } from './kernelmodel';
import { KernelRow } from './kernelrow';
import type { IDoors, IJobManager } from './tokens';

/** From so many on there is a field to find one by. */
const MANY = 8;

interface ISectionProps {
  readonly manager: IJobManager;
  readonly trans: TranslationBundle;
  readonly doors: IDoors;
}

/** The environments of this machine and their kernels; asked for when it is opened, and not before. */
export function KernelSection({ manager, trans, doors }: ISectionProps): JSX.Element {
  const [isOpen, setOpen] = React.useState(false);
  const model = React.useMemo(() => new KernelModel(manager, trans), [manager, trans]);
  React.useEffect(() => () => model.dispose(), [model]);
  React.useEffect(() => model.watch(isOpen), [model, isOpen]);
  return (
    <details className="aiarts-Kernels" onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>{trans.__('Environments and kernels')}</summary>
      <UseSignal signal={model.changed}>{() => <Kernels model={model} trans={trans} doors={doors} />}</UseSignal>
    </details>
  );
}

interface IKernelsProps extends Omit<ISectionProps, 'manager'> {
  readonly model: KernelModel;
}

function Kernels({ model, trans, doors }: IKernelsProps): JSX.Element {
  const [words, setWords] = React.useState('');
  const { found, said } = model;
  return (
    <>
      <p role="status" className="aiarts-Kernels-said">
        {said}
      </p>
      {found?.length === 0 && <p>{trans.__('No conda environment or venv was found.')}</p>}
      {(found?.length ?? 0) >= MANY && (
        <input
          className="jp-mod-styled aiarts-Kernels-filter"
          type="search"
          aria-label={trans.__('Find an environment')}
          placeholder={trans.__('Find an environment')}
          value={words}
          onChange={event => setWords(event.target.value)}
        />
      )}
      <ul aria-label={trans.__('Environments and kernels')}>
        {model.shown
          .filter(kernel => matches(kernel, words))
          .map(kernel => (
            <KernelRow
              key={`${kernel.path} ${isLeft(kernel) ? kernel.spec : ''}`}
              kernel={kernel}
              model={model}
              train={() => doors.newJob({ environment: kernel.path })}
              trans={trans}
            />
          ))}
      </ul>
      <KernelFolder register={(kernel, scope) => model.register(kernel, scope)} trans={trans} />
    </>
  );
}

/** Whether every word is in its name, its folder or what it has. */
function matches({ name, path, display_name: title, frameworks }: ShownKernel, words: string): boolean {
  const text = [name, path, title ?? '', ...Object.keys(frameworks ?? {})].join(' ').toLowerCase();
  return words.toLowerCase().split(/\s+/).every(word => text.includes(word));
}
