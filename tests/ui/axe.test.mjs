import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { serious } from './axe.mjs';
import { Browser, photograph } from './browser.mjs';
import { FormPage } from './form-page.mjs';
import { JobPage } from './job-page.mjs';
import { WAITING, withSidebar } from './with-sidebar.mjs';

let browser;

before(async () => {
  browser = await Browser.start();
});

after(() => browser?.close());

/** This machine as if it had a board of cards. */
const ARGS = ['--expose-app-in-browser', "--LocalEngine.devices={'huawei_npu_arm64': 8}"];
const TABS = ['Overview', 'Logs', 'Usage', 'Environment and ranks', 'Events'];
const THEMES = [
  ['light', 'JupyterLab Light'],
  ['dark', 'JupyterLab Dark'],
  ['contrast', 'JupyterLab Dark High Contrast']
];

/** All of them, so that one run tells everything that is wrong. */
async function collected(checks) {
  const found = [];
  for (const [place, root] of checks) {
    found.push(...(await serious(await root())).map(one => `${place}: ${one}`));
  }
  return found;
}

test('what is wrong is found: a button without a name, text that cannot be read', async () => {
  const page = await browser.context.newPage();
  await page.setContent('<div id="ours"><button></button><p style="color: #bbb; background: #fff">faint</p></div>');
  const found = await serious(page.locator('#ours'));
  assert.deepEqual(found.map(one => one.split(':')[0]).sort(), ['button-name', 'color-contrast']);
  await page.close();
});

for (const [name, theme] of THEMES) {
  test(`axe finds nothing serious in what is ours, in ${theme}`, () =>
    withSidebar(browser, { name: `axe-${name}`, theme, args: ARGS }, async (lab, jobs) => {
      const { page, panel } = jobs;
      const bad = await lab.write('work/bad.py', 'print("\\x1b[31mred\\x1b[0m \\x1b[33myellow")\nimport no_such_module\n');
      const good = await lab.write('work/train.py', WAITING);
      const ended = await lab.write('work/done.py', 'print(1)\n');
      const empty = ['empty sidebar', async () => (await jobs.says('No jobs yet'), panel)];
      const found = await collected([empty]);

      const failed = await lab.ask('POST', 'jobs', { name: 'bad', script: bad, device: 'cpu', nodes: 2, kind: 'distributed' });
      await lab.ask('POST', 'jobs', { name: 'done', script: ended, device: 'cpu' });
      const card = { device: 'huawei_npu_arm64', devices: 8 };
      await lab.ask('POST', 'jobs', { name: 'train', script: good, ...card });
      await lab.ask('POST', 'jobs', { name: 'waits', script: good, ...card });
      await jobs.rowSays('bad', 'missing');
      await jobs.rowSays('train', 'running');
      await jobs.rowSays('done', 'succeeded');
      await jobs.row('waits').locator('.aiarts-Job-why').waitFor();
      found.push(...(await collected([['sidebar', () => panel]])));
      await jobs.list.focus();
      await page.keyboard.press('Control+a');
      await panel.getByRole('toolbar', { name: 'Chosen jobs' }).waitFor();
      found.push(...(await collected([['sidebar, jobs chosen', () => panel]])));
      await page.keyboard.press('Escape');

      await panel.getByRole('button', { name: 'New job…' }).first().click();
      const form = new FormPage(page);
      await form.fill({ 'Start file': 'train.py', Nodes: '0' });
      await form.form.getByText('nodes must be').first().waitFor();
      await form.form.getByText('Advanced', { exact: true }).click();
      found.push(...(await collected([['form with problems', () => form.form]])));
      await form.fill({ Nodes: '' });
      await form.field('Device').selectOption('huawei_npu_arm64');
      await form.verdict.getByText(/would|wait/i).first().waitFor();
      found.push(...(await collected([['form judged', () => form.form]])));
      await photograph(page, `axe-${name}-form`);

      const view = new JobPage(page, 'bad');
      await view.open(failed.id);
      for (const tab of TABS) {
        await view.tab(tab);
        await view.region.getByRole('tabpanel').and(page.locator(':visible')).first().waitFor();
        await page.waitForLoadState('networkidle');
        found.push(...(await collected([[`job page, ${tab}`, () => view.region]])));
        await photograph(page, `axe-${name}-job-${tab.toLowerCase().replaceAll(' ', '-')}`);
      }

      await page.evaluate(() => void window.jupyterapp.commands.execute('jupyter-aiarts:open-cluster'));
      const cluster = page.getByRole('region', { name: 'AIArts cluster' });
      await cluster.getByRole('option').first().waitFor();
      await cluster.getByRole('listbox').focus();
      await page.keyboard.press('ArrowDown');
      await cluster.getByRole('complementary').waitFor();
      found.push(...(await collected([['cluster view', () => cluster]])));
      assert.deepEqual([...new Set(found)], []);
    }));
}
