import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { Browser, photograph } from './browser.mjs';
import { FormPage } from './form-page.mjs';
import { JobPage } from './job-page.mjs';
import { openPalette } from './palette.mjs';
import { WAITING, withSidebar } from './with-sidebar.mjs';

let browser;

before(async () => {
  browser = await Browser.start();
});

after(() => browser?.close());

/** Write a setting of ours before the page is loaded. */
const setting = (name, value) => (page, lab) =>
  lab.write(`.jupyter/lab/user-settings/jupyter-aiarts/${name}.jupyterlab-settings`, value);

test('whoever is new is led: the script is written, the form filled in, the steps stand above it, and the job runs', () =>
  withSidebar(browser, { name: 'guided-done' }, async (lab, jobs) => {
    const { page } = jobs;
    await jobs.says('No jobs yet');
    await jobs.panel.getByRole('button', { name: 'Show me how, step by step' }).click();
    const form = new FormPage(page);
    await form.form.getByRole('list', { name: 'The example, step by step' }).waitFor();
    await form.isJudged('It would start at once');
    await photograph(page, 'guided-form');
    await form.fill({ 'Parameters 1: value': '3' });
    await form.isJudged('It would start at once');
    await form.submit();
    await jobs.rowSays('example', 'succeeded');
    await jobs.row('example').click();
    const view = new JobPage(page, 'example');
    await view.tab('Logs');
    await view.logShows('step 3/3');
    await view.logShows('done: the minimum is near');
  }));

test('in Chinese the first minutes are Chinese', () =>
  withSidebar(browser, { name: 'guided-chinese', locale: 'zh_CN', title: 'AIArts 任务', theme: 'JupyterLab Dark' }, async (lab, jobs) => {
    await jobs.panel.getByRole('button', { name: '一步步教我' }).click();
    const form = new FormPage(jobs.page, '新建任务');
    await form.form.getByRole('list', { name: '示例步骤' }).waitFor();
    await form.form.getByText('它可以立即开始').waitFor();
  }));

test('who does not want to be asked is not asked, but before a deletion', () =>
  withSidebar(browser, { name: 'unasked', prepare: setting('panel', { confirmations: false, density: 'compact' }) }, async (lab, jobs) => {
    const script = await lab.write('work/train.py', WAITING);
    await lab.ask('POST', 'jobs', { name: 'train', script });
    await jobs.rowSays('train', 'running');
    const { height } = await jobs.row('train').boundingBox();
    assert.ok(height < 30, `a row of the compact list is ${height} px high`);
    await photograph(jobs.page, 'compact');
    await jobs.move('train', 'Stop');
    await jobs.isTold('Stopped “train”');
    assert.equal(await jobs.page.getByRole('dialog').count(), 0);
    await jobs.move('train', 'Delete');
    await jobs.page.getByRole('dialog').getByText('train').first().waitFor();
    await jobs.page.keyboard.press('Escape');
  }));

test('the default cluster is where new jobs go; one that is not there is said, with what there is', () =>
  withSidebar(browser, { name: 'default-cluster', prepare: setting('form', { defaultCluster: 'nowhere' }) }, async (lab, jobs) => {
    await lab.write('work/train.py', WAITING);
    await jobs.panel.getByRole('button', { name: 'New job…' }).first().click();
    const form = new FormPage(jobs.page);
    await form.fill({ 'Start file': 'train.py' });
    await form.isJudged("No cluster is called 'nowhere' here.");
    await form.field('Cluster').selectOption('local');
    await form.isJudged('It would start at once');
  }));

test('everything can be called from the palette, and the sidebar is open again after a reload', () =>
  withSidebar(browser, { name: 'palette-commands', args: ['--expose-app-in-browser'] }, async (lab, jobs) => {
    const { page } = jobs;
    await jobs.says('No jobs yet');
    await openPalette(page);
    await page.keyboard.type('aiarts');
    const labels = page.locator('.lm-CommandPalette-item:visible .lm-CommandPalette-itemLabel');
    // One by one: the palette draws its list anew whenever a command changes.
    for (const label of ['Show AIArts jobs', 'Show the AIArts cluster', 'New AIArts job…', 'Run a demo job', 'Guided example']) {
      await labels.filter({ hasText: label }).first().waitFor();
    }
    await photograph(page, 'palette-aiarts');
    await page.keyboard.press('Escape');
    await lab.keepsLayout('jupyter-aiarts-jobs', (_, { left }) => left?.current === 'jupyter-aiarts-jobs');
    await page.reload();
    await jobs.says('No jobs yet');
    assert.ok(await jobs.panel.isVisible());
  }));
