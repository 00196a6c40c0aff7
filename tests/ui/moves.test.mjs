import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { Browser, photograph } from './browser.mjs';
import { WAITING, withSidebar } from './with-sidebar.mjs';

let browser;

before(async () => {
  browser = await Browser.start();
});

after(() => browser?.close());

test('from the empty sidebar: the demo runs, is stopped, run again and deleted, each asked for and told', () =>
  withSidebar(browser, { name: 'demo-deleted' }, async (lab, jobs) => {
    await jobs.says('No jobs yet');
    await jobs.panel.getByRole('button', { name: 'Run a demo job' }).click();
    await jobs.isTold('Submitted “demo: count to 30”');
    await jobs.rowSays('demo', 'running');
    await jobs.row('demo').getByText(/step \d+\/30/).waitFor();
    await jobs.row('demo').getByRole('progressbar').waitFor();
    await photograph(jobs.page, 'demo-running');

    await jobs.move('demo', 'Stop');
    await photograph(jobs.page, 'demo-stop-question');
    await jobs.page.getByRole('dialog').getByRole('button', { name: 'Stop', exact: true }).click();
    await jobs.isTold('Stopped “demo: count to 30”');
    await jobs.rowSays('demo', 'stopped');

    await jobs.move('demo', 'Run again');
    await jobs.isTold('again, run 2');
    await jobs.rowSays('demo', 'run 2');

    await jobs.move('demo', 'Delete', 'Delete');
    await jobs.isTold('Deleted “demo: count to 30”');
    await jobs.says('No jobs yet');
  }));

test('a pause says that a checkpoint is needed, and a paused job can be resumed', () =>
  withSidebar(browser, { name: 'resumed' }, async (lab, jobs) => {
    const script = await lab.write('work/train.py', WAITING);
    await lab.ask('POST', 'jobs', { name: 'train', script, output_path: `${lab.home}/work` });
    await jobs.rowSays('train', 'running');
    await jobs.move('train', 'Pause');
    const dialog = jobs.page.getByRole('dialog');
    await dialog.getByText('needs a checkpoint').waitFor();
    await dialog.getByText(`${lab.home}/work`).waitFor();
    await photograph(jobs.page, 'pause-question');
    await dialog.getByRole('button', { name: 'Pause', exact: true }).click();
    await jobs.rowSays('train', 'paused');
    await jobs.move('train', 'Resume');
    await jobs.rowSays('train', 'running');
  }));

test('a failed job says why; filters and search narrow the list; many are deleted at once by keyboard alone', () =>
  withSidebar(browser, { name: 'keyboard' }, async (lab, jobs) => {
    const { page, list, panel } = jobs;
    const bad = await lab.write('work/bad.py', 'import no_such_module\n');
    const good = await lab.write('work/good.py', 'print(1)\n');
    await lab.ask('POST', 'jobs', { name: '<img src=x onerror=alert(1)>', script: bad });
    await lab.ask('POST', 'jobs', { name: '训'.repeat(63), script: good });
    await jobs.rowSays('<img', 'The module no_such_module is missing');
    await jobs.rowSays('训训', 'succeeded');
    assert.equal(await panel.locator('img').count(), 0);

    await panel.getByRole('combobox', { name: 'Phase' }).selectOption('failed');
    await jobs.row('训训').waitFor({ state: 'detached' });
    await panel.getByRole('combobox', { name: 'Phase' }).selectOption('');
    await panel.getByRole('searchbox').fill('训');
    await jobs.row('<img').waitFor({ state: 'detached' });
    await photograph(page, 'searched');
    await panel.getByRole('searchbox').press('Escape');

    await list.focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Control+a');
    await panel.getByRole('toolbar', { name: 'Chosen jobs' }).waitFor();
    await photograph(page, 'chosen');
    await page.keyboard.press('Delete');
    await page.getByRole('dialog').getByText('Delete 2 jobs?').waitFor();
    await jobs.dialogHasKeys();
    await page.keyboard.press('Enter');
    await jobs.isTold('Deleted 2 jobs');
    await jobs.says('No jobs yet');
  }));

test('ten thousand jobs: few rows in the page while scrolling, and the last one is reached', () =>
  withSidebar(
    browser,
    {
      name: 'ten-thousand',
      prepare: page =>
        page.routeWebSocket(/aiarts\/stream/, socket => {
          const job = index => ({
            id: `j${String(index).padStart(9, '0')}`,
            name: `train ${index}`,
            cluster: 'local',
            phase: index % 3 ? 'succeeded' : 'failed',
            run: 1,
            created: new Date(Date.UTC(2026, 10, 16) - index * 1000).toISOString(),
            started: null,
            ended: null,
            owner: 'alice',
            explanation: index % 3 ? null : { code: 'exit-code', title: 'It ended with 1', why: '' },
            moves: ['rerun', 'delete'],
            spec: { kind: 'regular', device: 'cpu', devices: 0, nodes: 1, priority: 5 }
          });
          socket.send(JSON.stringify({ type: 'snapshot', jobs: Array.from({ length: 10_000 }, (_, index) => job(index)) }));
        })
    },
    async (lab, jobs) => {
      await jobs.row('train 0').waitFor();
      const most = await jobs.list.evaluate(async list => {
        let rows = 0;
        for (let step = 0; step <= 60; step += 1) {
          list.scrollTop = (list.scrollHeight * step) / 60;
          await new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve, 20)));
          rows = Math.max(rows, list.querySelectorAll('[role=row]').length);
        }
        return rows;
      });
      assert.ok(most > 5 && most <= 200, `${most} rows were in the page`);
      await jobs.list.focus();
      await jobs.page.keyboard.press('End');
      await jobs.row('train 9998').waitFor();
    }
  ));
