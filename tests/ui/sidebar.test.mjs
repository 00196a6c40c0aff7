import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { Browser, photograph } from './browser.mjs';
import { WAITING, withSidebar } from './with-sidebar.mjs';

let browser;

before(async () => {
  browser = await Browser.start();
});

after(() => browser?.close());

test('without the server extension the panel says that nobody answers, and how to check', () =>
  withSidebar(browser, { name: 'absent', extension: false }, async (lab, jobs) => {
    await jobs.says('not answering');
    await jobs.says('jupyter server extension list');
  }));

test('in Chinese the panel speaks Chinese', () =>
  withSidebar(browser, { name: 'chinese', extension: false, locale: 'zh_CN', title: 'AIArts 任务' }, async (lab, jobs) => {
    await jobs.says('没有应答');
  }));

test('a job submitted elsewhere appears, runs and succeeds without a reload', () =>
  withSidebar(browser, { name: 'live' }, async (lab, jobs) => {
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
  withSidebar(browser, { name: 'stale' }, async (lab, jobs) => {
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
