import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { Browser, photograph } from './browser.mjs';
import { addCards, NPU } from './cards.mjs';
import { Lab } from './lab.mjs';
import { notebook, NotebookPage } from './notebook-page.mjs';

const MIME = 'application/vnd.jupyter-aiarts.v1+json';
let browser;

before(async () => {
  browser = await Browser.start();
});

after(() => browser?.close());

/** Takes its first step when the file `on` appears beside it: a panel shows the last lines only. Ends with `go`. */
const TRAINING = `
import pathlib, sys, time
print("epoch 0 <b>bold</b>", flush=True)
print("\\x1b[31mloss is nan\\x1b[0m", file=sys.stderr, flush=True)
step, here = 0, pathlib.Path(__file__)
while here.exists() and not here.with_name("on").exists():
    time.sleep(0.05)
while here.exists() and not here.with_name("go").exists():
    time.sleep(0.25)
    step += 1
    print(f"step {step}", flush=True)
print("last words", flush=True)
`;

/** A notebook in a new JupyterLab; keeps a picture of the end whatever it was, and counts what is asked of the server. */
async function withNotebook(name, cells, options, steps) {
  const lab = await Lab.start(options);
  const page = await browser.context.newPage();
  const book = new NotebookPage(page);
  const asked = [];
  page.on('request', request => {
    const [, path] = request.url().split('/aiarts/');
    if (path && !path.startsWith('stream')) {
      asked.push(path.split('?')[0]);
    }
  });
  try {
    await lab.write('work/train.py', TRAINING);
    await lab.write('work/book.ipynb', typeof cells === 'function' ? await cells(lab) : notebook(...cells));
    await book.open(lab, 'book.ipynb');
    await steps(lab, book, asked);
    assert.deepEqual(book.errors, []);
  } finally {
    await photograph(page, name);
    await page.close();
    await lab.endJobs(); // they would outlive the server
    await lab.remove();
  }
}

test('a job as the last line of a cell is live while the kernel is busy, and its button stops it', () =>
  withNotebook(
    'cell-job',
    ['%load_ext jupyter_aiarts', '%aiarts submit train.py --name "训练 <i>one</i>"', 'import time; time.sleep(3600)'],
    {},
    async (lab, book) => {
      await book.runAll();
      const panel = book.panel('AIArts job');
      await panel.getByText('running', { exact: true }).waitFor({ timeout: 60_000 });
      await panel.getByText('训练 <i>one</i>').waitFor();
      await panel.getByText('epoch 0 <b>bold</b>').waitFor();
      await panel.getByText('loss is nan', { exact: true }).waitFor();
      await lab.write('work/on', '');
      await panel.getByText(/^step [1-9]\d?$/).last().waitFor();
      await photograph(book.page, 'cell-job-running');

      await panel.getByRole('button', { name: 'Stop' }).press('Enter');
      await book.page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
      await panel.getByText('stopped', { exact: true }).waitFor();
      await photograph(book.page, 'cell-job-stopped');
      await lab.write('work/go', '');
      await panel.getByRole('button', { name: 'Run again' }).click();
      await panel.getByText('last words').waitFor();
      await panel.getByText('succeeded', { exact: true }).waitFor();
      await panel.getByText('run 2').waitFor();
    }
  ));

/** A notebook that somebody saved: outputs of our type, beside text, and no kernel. */
function saved(...payloads) {
  const book = notebook(...payloads.map((_, place) => `cell(${place})`));
  book.cells.forEach((cell, place) => {
    const data = { 'text/plain': ['kept text'], 'text/html': ['<p>kept html</p>'], [MIME]: payloads[place] };
    cell.outputs = [{ output_type: 'execute_result', execution_count: 1, metadata: {}, data }];
  });
  return book;
}

test('a reopened notebook shows the live job without a kernel; what is not ours to draw is text', () =>
  withNotebook(
    'cell-reopened',
    async lab => {
      const script = await lab.write('work/train.py', TRAINING);
      await lab.write('work/on', '');
      const job = await lab.ask('POST', 'jobs', { name: 'reopened', script, device: NPU, devices: 2 });
      return saved(
        { kind: 'job', id: job.id },
        { kind: 'job', id: 'zzzzzzzzzz' },
        { kind: 'job', id: '../../api/shutdown' },
        { kind: 'of tomorrow' }
      );
    },
    { prepare: addCards, devices: { [NPU]: 2 } },
    async (lab, book, asked) => {
      const panels = book.panel('AIArts job');
      await panels.first().getByText('running', { exact: true }).waitFor();
      await panels.first().getByText(/^step \d+$/).first().waitFor();
      await panels.nth(1).getByText('kept text').waitFor();
      await book.page.locator('.aiarts-Output').nth(2).getByText('kept text').waitFor();
      await book.page.locator('.aiarts-Output').nth(3).getByText('kept text').waitFor();
      assert.equal(await book.page.getByText('kept html').count(), 0);
      assert.ok(asked.every(path => !path.includes('shutdown')));
      // The launcher looks some seconds after the start, and the panel every fifteen.
      await panels.first().getByRole('meter', { name: 'Card 1 busy' }).waitFor({ timeout: 60_000 });
      await photograph(book.page, 'cell-reopened-live');

      await lab.write('work/go', '');
      await panels.first().getByText('succeeded', { exact: true }).waitFor();
      await panels.first().getByText('last words').waitFor();
      // A job that is over costs nothing: nobody asks any more.
      await book.page.waitForTimeout(1500);
      const before = asked.length;
      await book.page.waitForTimeout(4000);
      assert.deepEqual(asked.slice(before), []);
    }
  ));

for (const [name, options, region, words] of [
  ['english', {}, ['What this machine is doing', 'Machines and their cards', 'List of AIArts jobs'], ['Memory', 'Fits now', 'running']],
  ['chinese', { locale: 'zh_CN' }, ['本机使用情况', '机器与卡', 'AIArts 任务列表'], ['内存', '现在放得下', '运行中']]
]) {
  test(`usage, machines and jobs are live in ${name}, in both themes, and rest when out of sight`, () =>
    withNotebook(
      `cell-all-${name}`,
      async lab => {
        const script = await lab.write('work/train.py', TRAINING);
        await lab.write('work/on', '');
        await lab.ask('POST', 'jobs', { name: 'listed', script, device: NPU, devices: 2 });
        await lab.ask('POST', 'jobs', { name: 'of CPUs', script });
        return saved({ kind: 'usage' }, { kind: 'cluster' }, { kind: 'jobs', mine: true }, ...new Array(12).fill({ kind: 'x' }));
      },
      { ...options, prepare: addCards, devices: { [NPU]: 8 } },
      async (lab, book, asked) => {
        const [usage, machines, jobs] = region.map(one => book.panel(one));
        await usage.getByText(words[0]).first().waitFor();
        await usage.getByText('npu 0').first().waitFor();
        await machines.getByText(words[1]).waitFor();
        await jobs.getByText(words[2], { exact: true }).first().waitFor();
        await jobs.getByText('listed').waitFor();
        await book.page.waitForTimeout(6000); // a line needs more than one point
        await photograph(book.page, `cell-${name}-light`);
        if (name === 'english') {
          await book.theme('Dark');
          await photograph(book.page, `cell-${name}-dark`);
          const another = await lab.ask('POST', 'jobs', { name: 'another', command: 'sleep 60' });
          await jobs.getByText('another').waitFor();
          await lab.ask('POST', `jobs/${another.id}/stop`);
          await jobs.getByText('stopped', { exact: true }).waitFor();
          // Out of sight nobody asks.
          await book.page.locator('.jp-Notebook .jp-Cell').last().scrollIntoViewIfNeeded();
          await book.page.waitForTimeout(1000);
          const before = asked.length;
          await lab.ask('POST', `jobs/${another.id}/rerun`);
          await book.page.waitForTimeout(12_000);
          assert.deepEqual(asked.slice(before), []);
        }
      }
    ));
}
