import assert from 'node:assert/strict';
import { chmod, readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';

import { Browser, photograph } from './browser.mjs';
import { JobsPage } from './jobs-page.mjs';
import { Lab } from './lab.mjs';
import { notebook, NotebookPage } from './notebook-page.mjs';

const NPU = 'huawei_npu_arm64';
const SETTINGS = '.jupyter/lab/user-settings/jupyter-aiarts/notifications.jupyterlab-settings';
const LOOKED = { timeout: 60_000 }; // a launcher looks some seconds after the start, and then every half minute
let browser;

before(async () => {
  browser = await Browser.start();
});

after(() => browser?.close());

/**
 * Stands for Huawei's tool: two cards that do nothing, from a recorded form; told of after three seconds. The second
 * card is held by the process whose id is in `tools/pid`.
 */
async function idleCards(lab) {
  const form = new URL('../launcher/usage/npu_smi/10_910B4_26.0_wide_five_columns.txt', import.meta.url);
  const said = await lab.write('tools/said', (await readFile(form, 'utf8')).replace('| 71 ', '| 0  '));
  const holder = await lab.write('tools/pid', '412');
  await chmod(await lab.write('tools/npu-smi', `#!/bin/sh\nsed "s/| 412 /| $(cat '${holder}') /" '${said}'\n`), 0o755);
  await lab.write(SETTINGS, { idleMinutes: 0.05 });
}

test('cards that do nothing are told of in one notice, which stops the job only when somebody says so', async () => {
  const lab = await Lab.start({ devices: { [NPU]: 2 }, prepare: idleCards });
  const page = await browser.context.newPage();
  const jobs = new JobsPage(page);
  try {
    await jobs.open(lab.page);
    const job = await lab.ask('POST', 'jobs', { name: 'asleep', command: 'sleep 600', device: NPU, devices: 2 });
    await jobs.isTold('asleep holds cards that have done nothing since', LOOKED);
    await page.waitForTimeout(1500); // it slides in
    await photograph(page, 'idle-told');
    assert.equal((await lab.ask('GET', `jobs/${job.id}`)).phase, 'running');

    await page.getByRole('button', { name: 'Stop job' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
    await jobs.rowSays('asleep', 'stopped');
    assert.deepEqual(jobs.errors, []);
  } finally {
    await photograph(page, 'idle');
    await page.close();
    await lab.remove();
  }
});

test('of several there is one notice, which stops all or rests, also when the page is loaded anew', async () => {
  const lab = await Lab.start({ devices: { [NPU]: 2 }, prepare: idleCards });
  const page = await browser.context.newPage();
  const jobs = new JobsPage(page);
  const notices = page.getByRole('alert').filter({ hasText: 'hold cards that do nothing' });
  try {
    await jobs.open(lab.page);
    // At once: idle since the same second, they are told of together.
    const job = { command: 'sleep 600', device: NPU, devices: 1 };
    await Promise.all(['asleep', 'dozing'].map(name => lab.ask('POST', 'jobs', { ...job, name })));
    await jobs.isTold('2 jobs hold cards that do nothing', LOOKED);
    assert.equal(await page.getByRole('alert').filter({ hasText: 'cards' }).count(), 1);
    await notices.getByRole('button', { name: 'Snooze an hour' }).click();
    await notices.waitFor({ state: 'detached' });

    await jobs.open(`${lab.page}&reset`);
    await jobs.rowSays('asleep', 'running');
    await page.waitForTimeout(1500); // nothing is told, however long one waits
    assert.equal(await notices.count(), 0);

    await page.evaluate(() => window.localStorage.clear());
    await jobs.open(`${lab.page}&reset`);
    await jobs.isTold('2 jobs hold cards that do nothing', LOOKED);
    await notices.getByRole('button', { name: 'Stop jobs' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
    await jobs.rowSays('asleep', 'stopped');
    await jobs.rowSays('dozing', 'stopped');
    await notices.waitFor({ state: 'detached' });
    assert.deepEqual(jobs.errors, []);
  } finally {
    await photograph(page, 'idle-many');
    await page.close();
    await lab.endJobs();
    await lab.remove();
  }
});

/** What a model on a card is to the driver: this process holds it. */
const TAKE_A_CARD = [
  'import os, pathlib',
  "_ = pathlib.Path.home().joinpath('tools/pid').write_text(str(os.getpid()))",
  "print('the model is on the card')"
].join('\n');

test('a notebook that holds an idle card is told of; it rests, or gives the card back when somebody says so', async () => {
  const lab = await Lab.start({ prepare: idleCards });
  await lab.write('work/train.ipynb', notebook(TAKE_A_CARD));
  const page = await browser.context.newPage();
  const jobs = new JobsPage(page);
  const notices = page.getByRole('alert').filter({ hasText: 'train.ipynb holds a card that has done nothing since' });
  const kernels = async () => (await fetch(`${lab.url}api/kernels?token=${lab.token}`)).json();
  try {
    await jobs.open(lab.notebook('train.ipynb')); // the sidebar shows what the machine does, so it is looked at often
    await new NotebookPage(page).runAll();
    await notices.waitFor({ timeout: 60_000 });
    await page.waitForTimeout(1500); // it slides in
    await photograph(page, 'idle-notebook');
    assert.equal((await kernels()).length, 1);
    const saved = page.waitForResponse(
      answer => answer.request().method() === 'PUT' && answer.url().includes('/api/contents/train.ipynb') && answer.ok()
    );
    await page.getByRole('button', { name: /^Save and create checkpoint/ }).click();
    await saved;
    await notices.getByRole('button', { name: 'Snooze an hour' }).click();
    await notices.waitFor({ state: 'detached' });

    await jobs.open(`${lab.notebook('train.ipynb')}&reset`);
    await jobs.says('NPU 1');
    await page.waitForTimeout(4500); // longer than idle cards may be: a page that comes back is no work for a kernel
    assert.equal(await notices.count(), 0);

    await page.evaluate(() => window.localStorage.removeItem('jupyter-aiarts:idle-rests'));
    const joins = page.waitForEvent('websocket', socket => /\/api\/kernels\/[^/]+\/channels/.test(socket.url()));
    await jobs.open(`${lab.notebook('train.ipynb')}&reset`);
    await joins; // a page whose kernel ends before that starts another one
    await notices.getByRole('button', { name: 'Release cards' }).click();
    const question = page.getByRole('dialog').filter({ hasText: 'Variables in memory are lost' });
    await question.waitFor();
    await photograph(page, 'idle-release');
    assert.equal((await kernels()).length, 1);
    await question.getByRole('button', { name: 'Shut down' }).click();
    await jobs.isTold('Shut down the kernel of train.ipynb');
    assert.deepEqual(await kernels(), []);
    await notices.waitFor({ state: 'detached' });
    await page.locator('.jp-OutputArea').getByText('the model is on the card').waitFor(); // what it had printed stays
    assert.deepEqual(jobs.errors, []);
  } finally {
    await photograph(page, 'idle-released');
    await page.close();
    await lab.remove();
  }
});
