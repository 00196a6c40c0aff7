import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { Browser, photograph } from './browser.mjs';
import { JobPage } from './job-page.mjs';
import { Lab } from './lab.mjs';
import { command } from './palette.mjs';
import { stumblingBlocks } from './reachable.mjs';

let browser;

before(async () => {
  browser = await Browser.start();
});

after(() => browser?.close());

/** This machine as if it had a board of Ascend 910 cards. */
const ARGS = ['--expose-app-in-browser', "--LocalEngine.devices={'huawei_npu_arm64': 8}"];

const WAITING = 'import time\ntime.sleep(600)\n';

async function withCluster(picture, options, steps) {
  const lab = await Lab.start({ args: ARGS, ...options });
  const page = await browser.context.newPage();
  try {
    const errors = await JobPage.load(page, lab.page);
    await steps(lab, page);
    assert.deepEqual(errors, []);
  } finally {
    await photograph(page, picture);
    await page.close();
    await lab.endJobs();
    await lab.remove();
  }
}

const open = page => page.evaluate(() => void window.jupyterapp.commands.execute('jupyter-aiarts:open-cluster'));

test('the cluster shows the rings of a board, who holds which card, and what changes', () =>
  withCluster('cluster', {}, async (lab, page) => {
    await open(page);
    const view = page.getByRole('region', { name: 'AIArts cluster' });
    const nodes = view.getByRole('listbox', { name: 'Nodes of the cluster' });
    await nodes.getByRole('option', { name: /8 of 8 cards free/ }).waitFor();
    assert.equal(await nodes.locator('.aiarts-Ring[data-ring=true]').count(), 2);

    const script = await lab.write('work/train.py', WAITING);
    const job = await lab.ask('POST', 'jobs', { name: 'holds two', script, device: 'huawei_npu_arm64', devices: 2 });
    await nodes.getByRole('option', { name: /6 of 8 cards free/ }).waitFor();
    assert.equal(await nodes.locator('.aiarts-CardMark[data-state=held]').count(), 2);
    await nodes.locator('.aiarts-CardMark[data-state=held]').first().hover();
    await view.getByRole('complementary').getByText('holds two').waitFor();
    await view.getByRole('row', { name: /huawei_npu_arm64 2 \/ 8/ }).getByRole('meter', { name: /huawei_npu_arm64/ }).waitFor();
    await nodes.focus();
    await page.keyboard.press('ArrowDown');
    await view.getByRole('complementary').getByText('holds two').waitFor();
    await view.getByText(/Free in each ring: (2 \+ 4|4 \+ 2)/).waitFor();
    await photograph(page, 'cluster-held');
    assert.deepEqual(await stumblingBlocks(view), []);

    await lab.ask('POST', `jobs/${job.id}/stop`);
    await nodes.getByRole('option', { name: /8 of 8 cards free/ }).waitFor();
    await lab.keepsLayout('aiarts-cluster:cluster');
    await page.reload();
    await nodes.getByRole('option', { name: /8 of 8 cards free/ }).waitFor();
  }));

test('in Chinese and on a dark theme, found by the palette, with the keyboard alone', () =>
  withCluster('cluster-chinese-dark', { locale: 'zh_CN', theme: 'JupyterLab Dark' }, async (lab, page) => {
    await command(page, '显示 AIArts 集群');
    const view = page.getByRole('region', { name: 'AIArts 集群' });
    await view.getByRole('option', { name: /8 张卡中 8 张空闲/ }).waitFor();
  }));

/** A thousand boards of eight cards, held by many; the numbers are made up, so the answer of the route is too. */
function thousandNodes() {
  const nodes = Array.from({ length: 1000 }, (_, index) => {
    const held = (index * 7) % 9;
    const cards =
      held === 0
        ? []
        : [
            {
              owner: `user${index % 13}`,
              job: `job${String(index % 50).padStart(7, 'a')}`,
              namespace: null,
              pod: null,
              cards: held,
              ids: index % 5 ? [...Array(held).keys()] : null
            }
          ];
    return {
      cluster: 'lab',
      name: `npu-${String(index).padStart(4, '0')}`,
      ready: index % 97 !== 3,
      device: 'huawei_npu_arm64',
      cards: 8,
      free: 8 - held,
      held_by: cards,
      problems: index % 97 === 3 ? ['not-ready'] : [],
      unhealthy: 0,
      missing: 0,
      cpu: 192,
      free_cpu: 192 - held * 20,
      memory_gb: 768,
      free_memory_gb: null
    };
  });
  return {
    nodes,
    fits: null,
    clusters: [{ name: 'lab', at: '2026-11-16T00:00:00Z', fits: null, unknown: [], stale_since: null }],
    stuck: []
  };
}

test('1,000 nodes are drawn at once, few of them in the page, and the last is one key away', t =>
  withCluster('cluster-thousand', {}, async (lab, page) => {
    await page.route('**/aiarts/cluster?*', route => route.fulfill({ json: thousandNodes() }));
    const started = Date.now();
    await open(page);
    const nodes = page.getByRole('listbox', { name: 'Nodes of the cluster' });
    await nodes.getByRole('option', { name: /npu-0000/ }).waitFor();
    t.diagnostic(`from the command to 1,000 nodes: ${Date.now() - started} ms`);
    assert.ok((await nodes.getByRole('option').count()) <= 60);
    await photograph(page, 'cluster-thousand-top');
    await nodes.focus();
    await page.keyboard.press('End');
    await nodes.getByRole('option', { name: /npu-0999/ }).waitFor();
    await page.getByRole('complementary', { name: 'Node npu-0999' }).waitFor();
    await page.getByRole('searchbox', { name: 'Find nodes, jobs or users' }).fill('not ready');
    await page.getByText('11 / 1000').waitFor();
    assert.equal(await nodes.getByRole('option', { name: /not ready/ }).count(), 11);
  }));
