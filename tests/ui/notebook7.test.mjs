import assert from 'node:assert/strict';
import { chmod, readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';

import { Browser, photograph } from './browser.mjs';
import { JobPage } from './job-page.mjs';
import { JobsPage } from './jobs-page.mjs';
import { Lab } from './lab.mjs';
import { notebook, NotebookPage } from './notebook-page.mjs';

const NPU = 'huawei_npu_arm64';
const FORM = new URL('../launcher/usage/npu_smi/10_910B4_26.0_wide_five_columns.txt', import.meta.url);
/** A page opens and closes a subshell of the kernel as it likes; that is no thread of ours. */
const THREADS =
  'import threading; print("threads:", sorted(one.name for one in threading.enumerate() if "subshell" not in one.name))';
let browser;

before(async () => {
  browser = await Browser.start();
});

after(() => browser?.close());

/** Takes its tenth step when the file `on` appears beside it: a panel shows the last lines only. Ends with `go`. */
const TRAINING = `
import pathlib, time
step, here = 0, pathlib.Path(__file__)
while here.exists() and not here.with_name("go").exists():
    time.sleep(0.25)
    step += 1
    print(f"step {step}", flush=True)
    while step == 9 and here.exists() and not here.with_name("on").exists():
        time.sleep(0.05)
print("last words", flush=True)
`;

/** Stands for Huawei's tool: what the file `said` says; the first of its two cards is 71 % busy. */
async function cards(lab) {
  const said = await lab.write('tools/said', await readFile(FORM, 'utf8'));
  await chmod(await lab.write('tools/npu-smi', `#!/bin/sh\ncat '${said}'\n`), 0o755);
  await lab.write('work/train.py', TRAINING);
}

/** A notebook in a Notebook 7 of its own; keeps a picture of the end, whatever it was. */
async function withNotebook(name, cells, options, steps) {
  const lab = await Lab.start({ app: 'notebook', devices: { [NPU]: 2 }, prepare: cards, ...options });
  const page = await browser.context.newPage();
  const book = new NotebookPage(page);
  const complaints = [];
  page.on('console', said => {
    if (['error', 'warning'].includes(said.type()) && /aiarts/i.test(said.text())) {
      complaints.push(said.text());
    }
  });
  try {
    await lab.write('work/book.ipynb', notebook(...cells));
    await book.open(lab, 'book.ipynb');
    await steps(lab, book);
    assert.deepEqual(book.errors, []);
    assert.deepEqual(complaints, []); // every plugin of ours is at home here
  } finally {
    await photograph(page, name);
    await page.close();
    await lab.endJobs(); // they would outlive the server
    await lab.remove();
  }
}

/** Save, and see that it is on the disk. */
async function saved(lab, book) {
  await book.page.keyboard.press('Control+S');
  const path = `${lab.home}/work/book.ipynb`;
  for (;;) {
    const text = await readFile(path, 'utf8');
    if (text.includes('vnd.jupyter-aiarts') && text.includes('threads:')) {
      return;
    }
    await book.page.waitForTimeout(200);
  }
}

/** The kernels that run. */
const kernels = async lab => (await fetch(`${lab.url}api/kernels?token=ui-test`)).json();

/** End the kernel that a page starts for whoever opens a notebook, as an administrator's culling does. */
async function endKernels(lab, book) {
  await book.page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').waitFor({ timeout: 60_000 });
  await Promise.all(
    (await kernels(lab)).map(({ id }) => fetch(`${lab.url}api/kernels/${id}?token=ui-test`, { method: 'DELETE' }))
  );
  assert.deepEqual(await kernels(lab), []);
}

test('Notebook 7: cards and a job are live in a cell, with no thread in the kernel; reopened, without any kernel', () =>
  withNotebook(
    'notebook7',
    [
      '%load_ext jupyter_aiarts',
      THREADS,
      '%aiarts usage',
      `import jupyter_aiarts as aiarts\njob = aiarts.submit("train.py", name="训练 one", device="${NPU}", devices=2)\njob`,
      THREADS
    ],
    {},
    async (lab, book) => {
      await book.runAll();
      const usage = book.panel('What this machine is doing');
      await usage.getByText('npu 0').first().waitFor();
      await usage.getByText('71 %').first().waitFor();
      const panel = book.panel('AIArts job');
      await panel.getByText('running', { exact: true }).waitFor({ timeout: 60_000 });
      await panel.getByText(/^step [1-9]$/).first().waitFor();
      await lab.write('work/on', '');
      await lab.write('tools/said', (await readFile(FORM, 'utf8')).replace('| 71 ', '| 17 '));
      await usage.getByText('17 %').first().waitFor(); // nobody ran anything: the panel looks by itself
      await photograph(book.page, 'notebook7-live');

      const told = book.page.locator('.jp-OutputArea-output', { hasText: 'threads:' });
      await told.nth(1).waitFor();
      const [first, second] = await told.allTextContents();
      assert.equal(second, first);

      await saved(lab, book);
      await book.page.goto('about:blank');
      const joins = book.page.waitForEvent('websocket', socket => /\/api\/kernels\/[^/]+\/channels/.test(socket.url()));
      await book.open(lab, 'book.ipynb');
      await joins; // a page whose kernel ends before that starts another one
      await endKernels(lab, book);
      await panel.getByText('running', { exact: true }).waitFor();
      await panel.getByText(/^step \d\d+$/).first().waitFor();
      await lab.write('tools/said', (await readFile(FORM, 'utf8')).replace('| 71 ', '| 28 '));
      await usage.getByText('28 %').first().waitFor();
      await photograph(book.page, 'notebook7-reopened');

      await panel.getByRole('button', { name: 'Stop' }).press('Enter');
      await book.page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
      await panel.getByText('stopped', { exact: true }).waitFor();
      assert.deepEqual(await kernels(lab), []);
    }
  ));

test('Notebook 7: the list of jobs and the map of cards are live in a cell, and ask nothing out of sight', () =>
  withNotebook(
    'notebook7-lists',
    ['%load_ext jupyter_aiarts', '%aiarts jobs', '%aiarts cluster', ...new Array(25).fill('pass')],
    {},
    async (lab, book) => {
      const { page } = book;
      const asked = [];
      page.on('request', request => {
        const [, path] = request.url().split('/aiarts/');
        path && !path.startsWith('stream') && asked.push(path.split('?')[0]);
      });
      await book.runAll();
      const [jobs, machines] = [book.panel('List of AIArts jobs'), book.panel('Machines and their cards')];
      await machines.waitFor({ state: 'attached', timeout: 60_000 });
      await jobs.scrollIntoViewIfNeeded(); // whoever runs all cells is at the last one
      await jobs.getByText('No jobs').waitFor();
      await machines.getByText('Fits now').waitFor();
      const job = await lab.ask('POST', 'jobs', { name: 'held', command: 'sleep 600', device: NPU, devices: 2 });
      await jobs.getByText('held').waitFor(); // nobody ran anything: the panels look by themselves
      await jobs.getByText('running', { exact: true }).waitFor();
      await machines.getByText('0 of 2 free').waitFor();
      await photograph(page, 'notebook7-lists-live');

      await page.locator('.jp-Notebook .jp-Cell').last().scrollIntoViewIfNeeded();
      await page.waitForTimeout(1000);
      const before = asked.length;
      await lab.ask('POST', `jobs/${job.id}/stop`);
      await page.waitForTimeout(12_000); // longer than between two looks at the machines
      assert.deepEqual(asked.slice(before), []);
      await jobs.scrollIntoViewIfNeeded();
      await jobs.getByText('stopped', { exact: true }).waitFor();
    }
  ));

/** Do what the palette offers; Notebook 7 shows its application to the page only when asked to. */
const EXPOSED = ['--JupyterNotebookApp.expose_app_in_browser=True'];
const command = (page, name) => page.evaluate(id => void window.jupyterapp.commands.execute(id), `jupyter-aiarts:${name}`);

test('Notebook 7: the jobs are in its left sidebar, and a job, the form and the cluster open below the notebook', () =>
  withNotebook('notebook7-pages', ['1 + 1'], { args: EXPOSED }, async (lab, book) => {
    const { page } = book;
    await lab.ask('POST', 'jobs', { name: 'listed', script: `${lab.home}/work/train.py` });
    const jobs = new JobsPage(page);
    await command(page, 'show-jobs');
    await jobs.rowSays('listed', 'running');

    const opened = new JobPage(page, 'listed');
    await jobs.row('listed').dblclick();
    await opened.says('Every rank is up.');
    await opened.tab('Logs');
    await opened.logShows(/step \d+/);
    await photograph(page, 'notebook7-job-page');
    await command(page, 'open-cluster');
    await page.getByRole('table', { name: 'What is free' }).waitFor();
    await command(page, 'new-job');
    await page.getByRole('form').waitFor();
    await photograph(page, 'notebook7-form');
    await jobs.row('listed').dblclick(); // the page that is open comes to the front again
    await opened.logShows(/step \d+/);
    assert.equal(await opened.region.count(), 1);
  }));
