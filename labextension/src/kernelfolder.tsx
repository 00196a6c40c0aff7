import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import type { KernelModel, Scope } from './kernelmodel';

interface IFolderProps {
  readonly register: KernelModel['register'];
  readonly trans: TranslationBundle;
}

/** Makes a kernel of an environment that nothing names: a venv, by its folder. */
export function KernelFolder({ register, trans }: IFolderProps): JSX.Element {
  const [folder, setFolder] = React.useState('');
  const path = folder.trim();
  const add = async (scope: Scope): Promise<void> => {
    if (path !== '' && (await register({ name: path, path }, scope))) {
      setFolder('');
    }
  };
  return (
    <form
      className="aiarts-Kernels-folder"
      onSubmit={event => {
        event.preventDefault();
        void add('user');
      }}
    >
      <input
        className="jp-mod-styled"
        aria-label={trans.__('The folder of a venv or environment that is not listed')}
        placeholder={trans.__('Folder of another venv')}
        spellCheck={false}
        value={folder}
        onChange={event => setFolder(event.target.value)}
      />
      <button type="submit" className="jp-mod-styled" disabled={path === ''}>
        {trans.__('Register for me')}
      </button>
      <button type="button" className="jp-mod-styled" disabled={path === ''} onClick={() => void add('global')}>
        {trans.__('Register for everybody')}
      </button>
    </form>
  );
}
