import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { Browser, photograph } from './browser.mjs';
import { addCards, NPU } from './cards.mjs';
import { JobPage } from './job-page.mjs';
import { Lab } from './lab.mjs';
import { stumblingBlocks } from './reachable.mjs';

let browser;

before(async () => {
  browser = await Browser.start();
});

after(() => browser?.close());

const WAITING = 'import time\nprint("training", flush=True)\ntime.sleep(600)\n';

const WORDS = {
  english: {
    options: {},
    page: { region: 'Job', log: 'Log lines' },
    tabs: ['Usage', 'Environment and ranks'],
    chart: /^Busy, by card\. rank 0, card 0: \d+ %, rank 0, card 1: \d+ %$/,
    ranks: /^Memory, by rank\. rank 0: [\d.]+ MB$/,
    verdict: ['Rank table', 'HCCL would take this table.', 'What the doctor says', '1 server, 2 cards']
  },
  chinese: {
    options: { locale: 'zh_CN', theme: 'JupyterLab Dark' },
    page: { region: '任务', log: '日志行' },
    tabs: ['资源使用', '环境变量与 rank'],
    chart: /^各卡利用率/,
    ranks: /^各进程内存/,
    verdict: ['Rank table', 'HCCL 会接受这张表。', '诊断结果', '2']
  }
};

for (const [name, { options, page: words, tabs, chart, ranks, verdict }] of Object.entries(WORDS)) {
  test(`ranks and cards are charted since the run began, also for who comes after its end, and the rank table has its verdict, in ${name}`, async () => {
    const args = ['--expose-app-in-browser'];
    const lab = await Lab.start({ ...options, args, prepare: addCards, devices: { [NPU]: 2 } });
    const page = await browser.context.newPage();
    try {
      const errors = await JobPage.load(page, lab.page);
      const loaded = [];
      page.on('request', request => request.url().includes('/extensions/jupyter-aiarts/') && loaded.push(request.url()));
      const script = await lab.write('work/train.py', WAITING);
      const job = await lab.ask('POST', 'jobs', { name: 'charted', script, device: NPU, devices: 2 });
      const view = new JobPage(page, 'charted', words);
      await view.open(job.id);
      const before = loaded.length;
      await view.tab(tabs[0]);
      // The launcher looks some seconds after the start, and the page every fifteen.
      const figure = view.region.getByRole('img', { name: chart });
      await figure.waitFor({ timeout: 60_000 });
      await figure.locator('canvas').waitFor();
      assert.ok(loaded.length > before, 'the charts are loaded when they are seen');
      const box = await figure.locator('canvas').boundingBox();
      assert.ok(box.width > 200 && box.height > 80, JSON.stringify(box));
      assert.deepEqual(await stumblingBlocks(view.region), []);
      await photograph(page, `usage-${name}`);

      await view.tab(tabs[1]);
      const table = view.region.getByRole('region', { name: verdict[0] });
      await table.getByText(verdict[1]).waitFor();
      await table.getByRole('list', { name: verdict[2] }).getByText(verdict[3]).first().waitFor();
      assert.equal(await table.getByRole('row').count(), 3);
      await table.getByText('JSON', { exact: true }).click();
      assert.equal(JSON.parse(await table.locator('pre').textContent()).status, 'completed');
      await table.scrollIntoViewIfNeeded();
      await photograph(page, `rank-table-${name}`);

      await lab.ask('POST', `jobs/${job.id}/stop`);
      while ((await lab.ask('GET', `jobs/${job.id}`)).phase !== 'stopped') {
        await new Promise(resolve => setTimeout(resolve, 100));
      }
      await JobPage.load(page, lab.page);
      await view.open(job.id);
      await view.tab(tabs[0]);
      await view.region.getByRole('img', { name: ranks }).locator('canvas').waitFor();
      await figure.locator('canvas').waitFor();
      await photograph(page, `usage-past-${name}`);
      assert.deepEqual(errors, []);
    } finally {
      await photograph(page, `usage-end-${name}`);
      await page.close();
      await lab.endJobs();
      await lab.remove();
    }
  });
}
