import type { JupyterFrontEnd } from '@jupyterlab/application';
import { TabPanel, type Widget } from '@lumino/widgets';

const BELOW = 'aiarts-Below';

/**
 * Put a page of ours where pages are. Notebook 7 has one document in its main area and drops
 * whatever else is put there, so there it opens below the document, with a height of its own.
 */
export function addPage({ name, shell }: Pick<JupyterFrontEnd, 'name' | 'shell'>, page: Widget, type: string): void {
  const isBelow = name === 'Jupyter Notebook';
  page.toggleClass(BELOW, isBelow);
  shell.add(page, isBelow ? 'down' : 'main', { type });
}

/** Bring a page of ours to the front; Notebook 7 opens its lower area for it, and leaves another tab in front. */
export function showPage({ shell }: Pick<JupyterFrontEnd, 'shell'>, page: Widget): void {
  shell.activateById(page.id);
  const tabs = page.parent?.parent;
  if (page.hasClass(BELOW) && tabs instanceof TabPanel) {
    tabs.currentWidget = page;
  }
}
