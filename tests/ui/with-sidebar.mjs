/**
 * A JupyterLab of its own with the sidebar open, for one test; a picture of its end is kept whatever it was.
 */
import assert from 'node:assert/strict';

import { photograph } from './browser.mjs';
import { JobsPage } from './jobs-page.mjs';
import { Lab } from './lab.mjs';

/**
 * @param {{name: string, title?: string, theme?: string, prepare?: Function, beforeStart?: Function,
 * extension?: boolean, locale?: string, args?: string[]}} options `beforeStart(lab)` runs before the server starts,
 *   `prepare(page, lab)` before the page is loaded
 */
export async function withSidebar(browser, { name, title, theme, prepare, beforeStart, ...options }, steps) {
  const lab = await Lab.start({ ...options, prepare: beforeStart });
  const page = await browser.context.newPage();
  const jobs = new JobsPage(page, title);
  try {
    if (theme) {
      await lab.write('.jupyter/lab/user-settings/@jupyterlab/apputils-extension/themes.jupyterlab-settings', { theme });
    }
    await prepare?.(page, lab);
    await jobs.open(lab.page);
    await steps(lab, jobs);
    assert.deepEqual(jobs.errors, []);
  } finally {
    await photograph(page, name);
    await page.close();
    await lab.endJobs().catch(() => null); // a job outlives its server; there may be no server of ours left to ask
    await lab.remove();
  }
}

/** A start file that ends when the file `go` appears beside it, so that the test decides when. */
export const WAITING = `
import pathlib, sys, time
print("training", sys.argv[1:], flush=True)
while not pathlib.Path(__file__).with_name("go").exists():
    time.sleep(0.05)
`;
