import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { Browser, photograph } from './browser.mjs';
import { JobsPage } from './jobs-page.mjs';
import { Lab } from './lab.mjs';

let browser;

before(async () => {
  browser = await Browser.start();
});

after(() => browser?.close());

/** Open the sidebar of a new JupyterLab, run the test's steps, keep a picture of the end whatever it was. */
async function withSidebar(name, options, title, steps) {
  const lab = await Lab.start(options);
  const page = await browser.context.newPage();
  const jobs = new JobsPage(page, title);
  try {
    await jobs.open(lab.page);
    await steps(lab, jobs);
    assert.deepEqual(jobs.errors, []);
  } finally {
    await photograph(page, name);
    await page.close();
    await lab.remove();
  }
}

/** A start file that ends when the file `go` appears beside it, so that the test decides when. */
const WAITING = `
import pathlib, time
print("training", flush=True)
while not pathlib.Path(__file__).with_name("go").exists():
    time.sleep(0.05)
`;

test('without the server extension the panel says that nobody answers, and how to check', () =>
  withSidebar('absent', { extension: false }, undefined, async (lab, jobs) => {
    await jobs.says('not answering');
    await jobs.says('jupyter server extension list');
  }));

test('in Chinese the panel speaks Chinese', () =>
  withSidebar('chinese', { extension: false, locale: 'zh_CN' }, 'AIArts 任务', async (lab, jobs) => {
    await jobs.says('没有应答');
  }));

test('a job submitted elsewhere appears, runs and succeeds without a reload', () =>
  withSidebar('live', {}, undefined, async (lab, jobs) => {
    await jobs.says('No jobs yet');
    await photograph(jobs.page, 'empty');
    await jobs.page.evaluate(() => (window.aiartsNotReloaded = true));
    const script = await lab.write('work/train.py', WAITING);

    const job = await lab.ask('POST', 'jobs', { name: '训练 one', script });
    assert.match(job.id, /^[a-z][a-z0-9]{9}$/);
    await jobs.rowSays('训练 one', 'running');
    await photograph(jobs.page, 'running');

    await lab.write('work/go', '');
    await jobs.rowSays('训练 one', 'succeeded');
    await jobs.isTold('训练 one is done.');
    await photograph(jobs.page, 'told');
    assert.equal(await jobs.page.evaluate(() => window.aiartsNotReloaded), true);

    await lab.ask('DELETE', `jobs/${job.id}`);
    await jobs.says('No jobs yet');
  }));

test('while the server is away the list stays and says since when it is stale, then it is live again', () =>
  withSidebar('stale', {}, undefined, async (lab, jobs) => {
    const script = await lab.write('work/train.py', 'print("done")');
    await lab.ask('POST', 'jobs', { name: 'kept', script });
    await jobs.rowSays('kept', 'succeeded');

    await lab.down();
    await jobs.says('Stale since');
    await jobs.rowSays('kept', 'succeeded');
    await photograph(jobs.page, 'stale-since');

    await lab.up();
    await jobs.panel.getByText('Stale since').waitFor({ state: 'detached' });
    await jobs.rowSays('kept', 'succeeded');
  }));
