import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { TranslationBundle } from '@jupyterlab/translation';

import { toast } from './toasts';

/** An open document, as JupyterLab holds it. */
export type Open = Pick<NonNullable<ReturnType<IDocumentManager['contextForWidget']>>, 'model' | 'path' | 'save'>;

/**
 * Whether the file of a document is what its reader sees, who means that when they submit it: what was not saved yet is
 * saved, and it is told where that fails. What is not open, or may not be written, is the file that is there.
 */
export async function isSaved(context: Open | undefined, trans: TranslationBundle): Promise<boolean> {
  if (!context?.model.dirty || context.model.readOnly) {
    return true;
  }
  try {
    await context.save();
    return true;
  } catch (error) {
    console.warn('jupyter-aiarts: a document could not be saved', error); // JupyterLab tells why, or was told not to
    toast(trans.__('Not submitted: %1 could not be saved.', context.path), 'error', trans);
    return false;
  }
}
