import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { Browser, photograph } from './browser.mjs';
import { JobPage } from './job-page.mjs';
import { JobsPage } from './jobs-page.mjs';
import { Lab } from './lab.mjs';

let browser;

before(async () => {
  browser = await Browser.start();
});

after(() => browser?.close());

/** Compressed bytes of our scripts that may come with JupyterLab itself. */
const AT_START = 40_000;

test('little of us is loaded with JupyterLab; the sidebar, the form and each page come when they open', async t => {
  const lab = await Lab.start({ args: ['--expose-app-in-browser'] });
  const page = await browser.context.newPage();
  const sizes = new Map();
  const coming = []; // a page may be drawn before this process has its script
  page.on('response', response => {
    const [, name] = response.url().split('/extensions/jupyter-aiarts/static/');
    if (name) {
      coming.push(response.body().then(body => sizes.set(name.split('?')[0], gzipSync(body).length)));
    }
  });
  const total = () => [...sizes.values()].reduce((sum, size) => sum + size, 0);
  const grows = async (what, steps) => {
    const before = sizes.size;
    await steps();
    await Promise.all(coming);
    t.diagnostic(`${what}: ${sizes.size - before} more scripts, ${total()} bytes in all`);
    assert.ok(sizes.size > before, `${what} was loaded before it was opened`);
  };
  try {
    await JobPage.load(page, lab.page);
    await page.waitForTimeout(2000); // whatever comes by itself
    await Promise.all(coming);
    t.diagnostic(`with JupyterLab: ${[...sizes.keys()].length} scripts, ${total()} bytes`);
    assert.ok(total() <= AT_START, `${total()} bytes at the start`);

    const jobs = new JobsPage(page);
    await grows('the sidebar', async () => {
      await jobs.tab.click();
      await jobs.says('No jobs yet');
    });
    await grows('the form', async () => {
      await jobs.panel.getByRole('button', { name: 'New job…' }).first().click();
      await page.getByRole('tab', { name: 'New job' }).waitFor();
      await page.getByLabel('Start file').or(page.locator('.aiarts-FormWidget form')).first().waitFor();
    });
    const script = await lab.write('work/train.py', 'print("done")');
    await lab.ask('POST', 'jobs', { name: 'opened by a click', script });
    await grows('the job page', async () => {
      await jobs.row('opened by a click').click();
      await new JobPage(page, 'opened by a click').region.waitFor();
    });
    await grows('the cluster', async () => {
      await jobs.panel.getByRole('button', { name: 'Show the cluster' }).click();
      await page.getByRole('region', { name: 'AIArts cluster' }).waitFor();
    });
  } finally {
    await photograph(page, 'loading');
    await page.close();
    await lab.endJobs();
    await lab.remove();
  }
});
