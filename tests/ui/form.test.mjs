import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { Browser, photograph } from './browser.mjs';
import { FormPage } from './form-page.mjs';
import { WAITING, withSidebar } from './with-sidebar.mjs';

let browser;

before(async () => {
  browser = await Browser.start();
});

after(() => browser?.close());

test('a job is written, judged while typing, submitted, watched, stopped and cloned', () =>
  withSidebar(browser, { name: 'form-cloned' }, async (lab, jobs) => {
    const { page } = jobs;
    await lab.write('work/train.py', WAITING);
    await jobs.panel.getByRole('button', { name: 'New job…' }).first().click();
    const form = new FormPage(page);
    await form.isJudged('Name a start file');
    await form.form.getByRole('textbox', { name: 'Nodes' }).and(page.locator('[placeholder="1"]')).waitFor();
    await form.form.getByText('local (default)').waitFor({ state: 'attached' });
    await photograph(page, 'form-blank');

    await form.fill({ 'Start file': 'trian.py' });
    await form.form.getByText('trian.py').first().waitFor();
    await form.fill({ 'Start file': 'train.py', Name: '训练 <b>one</b>', Nodes: 'many' });
    await form.form.getByText('nodes must be a whole number').waitFor();
    await photograph(page, 'form-problems');
    await form.fill({ Nodes: '' });
    await form.isJudged('It would start at once');
    assert.equal(await form.field('Nodes').getAttribute('placeholder'), '1');

    await form.paste('Parameters 1: name', '--lr 0.1 --note "a $(b)" --amp');
    await form.paste('Environment variables 1: name', 'A=1\nexport B="two words"');
    await form.form.getByText('Advanced', { exact: true }).click();
    await form.isJudged('It would start at once');
    await photograph(page, 'form-filled');
    await form.submit();
    await jobs.isTold('Submitted “训练 <b>one</b>”');
    await jobs.rowSays('训练', 'running');
    const [made] = await lab.ask('GET', 'jobs');
    const { spec } = await lab.ask('GET', `jobs/${made.id}`);
    assert.deepEqual(spec.params, { lr: '0.1', note: 'a $(b)', amp: null });
    assert.deepEqual(spec.env, { A: '1', B: 'two words' });

    await jobs.move('训练', 'Stop', 'Stop');
    await jobs.rowSays('训练', 'stopped');
    await jobs.move('训练', 'Clone…');
    await form.isJudged('It would start at once');
    assert.equal(await form.field('Parameters 2: value').inputValue(), 'a $(b)');
    await form.fill({ Name: 'second' });
    await form.submit();
    await jobs.rowSays('second', 'running');
  }));

test('an edit changes what the next run uses, and a saved template is there to start from', () =>
  withSidebar(browser, { name: 'form-edited' }, async (lab, jobs) => {
    const { page } = jobs;
    const script = await lab.write('work/done.py', 'print(1)\n');
    await lab.ask('POST', 'jobs', { name: 'old', script, env: { A: '1', B: '2' } });
    await jobs.rowSays('old', 'succeeded');
    await jobs.move('old', 'Edit…');
    const edit = new FormPage(page, 'Edit old');
    await edit.form.getByRole('button', { name: 'Remove A' }).click();
    await edit.fill({ 'Environment variables 1: value': '3', Name: 'new' });
    await photograph(page, 'form-edit');
    await edit.submit('Save');
    await jobs.isTold('Changed “new”');
    const [job] = await lab.ask('GET', 'jobs');
    assert.deepEqual((await lab.ask('GET', `jobs/${job.id}`)).spec.env, { B: '3' });

    await jobs.panel.getByRole('button', { name: 'New job…' }).first().click();
    const form = new FormPage(page);
    await form.fill({ 'Start file': 'done.py', Nodes: '2' });
    await form.form.getByRole('button', { name: 'Save as template…' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('two-nodes');
    await page.getByRole('dialog').getByRole('button', { name: /ok/i }).click();
    await jobs.isTold('Saved the template two-nodes');
    await form.fill({ 'Start file': '', Nodes: '' });
    await form.form.getByRole('combobox', { name: 'Start from' }).selectOption('two-nodes');
    await form.verdict.getByText('It would', { exact: false }).first().waitFor();
    assert.equal(await form.field('Nodes').getAttribute('placeholder'), '2');
  }));

test('the form opens from the launcher, the palette and the file browser, and is there again after a reload', () =>
  withSidebar(browser, { name: 'form-restored' }, async (lab, jobs) => {
    const { page } = jobs;
    await lab.write('work/train.py', WAITING);
    await page.getByRole('button', { name: 'AIArts job' }).or(page.locator('.jp-LauncherCard', { hasText: 'AIArts job' })).first().click();
    const form = new FormPage(page);
    await form.isJudged('Name a start file');
    // Whoever opened it goes on writing there; a palette that came before that would lose the focus, and close.
    await page.locator('[data-key="script"] input:focus').waitFor();
    await page.keyboard.press('Control+Shift+c');
    await page.locator('.lm-CommandPalette-input:visible').fill('AIArts job');
    await page.locator('.lm-CommandPalette-item:visible', { hasText: 'AIArts job' }).first().waitFor();
    await photograph(page, 'palette');
    await page.keyboard.press('Escape');

    await page.getByRole('tab', { name: /File Browser/ }).click();
    await page.locator('.jp-DirListing-item', { hasText: 'train.py' }).click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Submit as AIArts job…' }).click();
    await page.getByLabel('Start file', { exact: true }).and(page.locator(':visible')).last().waitFor();
    await form.form.locator('visible=true').getByText('It would start at once').first().waitFor();
    await lab.keepsLayout('jupyter-aiarts-form:');
    await page.reload();
    await page.getByRole('tab', { name: 'New job' }).last().waitFor();
  }));

const NOTEBOOK = {
  cells: [{ cell_type: 'code', id: 'one', metadata: {}, source: 'print(1)', outputs: [], execution_count: null }],
  metadata: { kernelspec: { name: 'python3', display_name: 'Python 3' } },
  nbformat: 4,
  nbformat_minor: 5
};

test('a notebook is submitted from its toolbar, and from the file browser', () =>
  withSidebar(browser, { name: 'form-notebook', beforeStart: lab => lab.write('work/my notes.ipynb', NOTEBOOK) }, async (lab, jobs) => {
    const { page } = jobs;
    const file = page.locator('.jp-DirListing-item', { hasText: 'my notes.ipynb' });
    await page.getByRole('tab', { name: /File Browser/ }).click();
    await file.click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Submit as AIArts job…' }).click();
    const form = new FormPage(page);
    await form.isJudged('It would start at once');
    assert.equal(await form.field('Start file').inputValue(), 'my notes.ipynb');
    await page.getByRole('tab', { name: 'New job' }).locator('.lm-TabBar-tabCloseIcon').click();

    await file.dblclick();
    await page.getByRole('button', { name: 'Submit as AIArts job…' }).click();
    await form.isJudged('It would start at once');
    assert.equal(await form.field('Start file').inputValue(), 'my notes.ipynb');
    await form.submit();
    await jobs.row('my notes').waitFor();
    const [job] = await lab.ask('GET', 'jobs');
    assert.equal((await lab.ask('GET', `jobs/${job.id}`)).spec.script, 'my notes.ipynb');
  }));

test('what can never run is said while typing, and a button mends it', () =>
  withSidebar(browser, { name: 'form-mended', devices: { nvidia_gpu_amd64: 4 } }, async (lab, jobs) => {
    await lab.write('work/train.py', WAITING);
    await jobs.panel.getByRole('button', { name: 'New job…' }).first().click();
    const form = new FormPage(jobs.page);
    await form.fill({ 'Start file': 'train.py', 'Cards per node': '8' });
    await form.field('Device').selectOption('nvidia_gpu_amd64');
    await form.form.getByText('Fits now, jobs × cards: 4 × 1, 2 × 2, 1 × 4').waitFor();
    await form.isJudged('can never run it');
    await photograph(jobs.page, 'form-never');
    await form.verdict.getByRole('button').first().click();
    await form.isJudged('It would start at once');
    assert.notEqual(await form.field('Cards per node').inputValue(), '8');
  }));

for (const [theme, name] of [['JupyterLab Dark', 'dark'], ['JupyterLab Dark High Contrast', 'contrast']]) {
  test(`in ${theme} everything can be read`, () =>
    withSidebar(browser, { name: `${name}-form`, theme }, async (lab, jobs) => {
      const bad = await lab.write('work/bad.py', 'import no_such_module\n');
      const good = await lab.write('work/train.py', WAITING);
      await lab.ask('POST', 'jobs', { name: 'bad', script: bad });
      await lab.ask('POST', 'jobs', { name: 'train', script: good });
      await jobs.rowSays('bad', 'missing');
      await jobs.rowSays('train', 'running');
      await jobs.row('train').click();
      await photograph(jobs.page, `${name}-jobs`);
      await jobs.panel.getByRole('button', { name: 'New job…' }).first().click();
      const form = new FormPage(jobs.page);
      await form.fill({ 'Start file': 'train.py', Nodes: '0' });
      await form.form.getByText('nodes must be').first().waitFor();
    }));
}

test('in Chinese the form, its problems and the questions are Chinese', () =>
  withSidebar(browser, { name: 'chinese-form', locale: 'zh_CN', title: 'AIArts 任务' }, async (lab, jobs) => {
    const { page } = jobs;
    await jobs.says('还没有任务');
    await photograph(page, 'chinese-empty');
    await lab.write('work/train.py', WAITING);
    await jobs.panel.getByRole('button', { name: '新建任务…' }).first().click();
    const form = new FormPage(page, '新建任务');
    await form.fill({ 启动文件: 'train.py' });
    await form.form.getByText('它可以立即开始').waitFor();
    await form.submit('提交');
    await jobs.rowSays('train', '运行中');
    await jobs.move('train', '暂停');
    await page.getByRole('dialog').getByText('需要检查点').waitFor();
    await photograph(page, 'chinese-pause');
    await jobs.dialogHasKeys();
    await page.keyboard.press('Escape');
    await jobs.panel.getByRole('button', { name: '新建任务…' }).first().click();
    await form.fill({ 启动文件: 'train.py', 节点数: '0' });
    await form.form.getByText('nodes 必须是 1 到 10,000 之间的整数，现在是 0。').first().waitFor();
    await form.fill({ 启动文件: 'trian.py', 节点数: '' });
    await form.form.getByText('启动文件不存在').first().waitFor();
  }));
