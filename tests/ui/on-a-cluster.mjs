/**
 * A person works on a cluster in the browser. `test_on_a_cluster.py` starts it with a cluster: `KUBECONFIG` is who they
 * are, `NAMESPACE` where their jobs go.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { Browser, photograph } from './browser.mjs';
import { FormPage } from './form-page.mjs';
import { JobPage } from './job-page.mjs';
import { withSidebar } from './with-sidebar.mjs';

const { KUBECONFIG, NAMESPACE } = process.env;
const NPU = 'huawei_npu_arm64';
const IMAGE = 'registry.local/aiarts-test:1';
const PATIENCE = { timeout: 90_000 }; // of a pod, which is pulled, started and ended by others

// Every line says all: an open log shows its end, and the first line may be far above it by then.
const TRAINING = `
import os, time
for step in range(6000):
    print("step", step, "on", os.uname().nodename, flush=True)
    time.sleep(0.1)
`;
const STEP = /^step \d+ on \S+$/;

/** The cluster as an admin configures it; the cards of its nodes are those of a board without a selector. */
const CONFIG = {
  AiartsApp: {
    clusters: {
      lab: {
        kubeconfig: KUBECONFIG,
        namespaces: [NAMESPACE],
        devices: { [NPU]: { resource: 'huawei.com/Ascend910', node_selector: {} } }
      }
    }
  }
};

let browser;

before(async () => {
  browser = await Browser.start();
});

after(() => browser?.close());

test('a job is submitted to the cluster in the form, watched, read, seen on its node, stopped and run again', () =>
  withSidebar(
    browser,
    {
      name: 'on-a-cluster',
      args: ['--expose-app-in-browser'],
      prepare: async (page, lab) => {
        page.setDefaultTimeout(PATIENCE.timeout);
        await lab.write('work/train.py', TRAINING);
      },
      beforeStart: lab => lab.write('.jupyter/jupyter_server_config.json', CONFIG)
    },
    async (lab, jobs) => {
      const { page } = jobs;
      await jobs.panel.getByRole('button', { name: 'New job…' }).first().click();
      const form = new FormPage(page);
      await form.field('Cluster').selectOption('lab');
      await form.fill({ 'Start file': 'train.py', Name: 'on the cluster', Image: IMAGE, 'Cards per node': '2' });
      await form.field('Device').selectOption(NPU);
      await form.form.getByText('Advanced', { exact: true }).click();
      await form.fill({ 'CPUs per node': '0.25', 'Memory per node, GB': '0.25', 'Seconds to end in': '2' });
      await form.isJudged('It would start at once');
      await form.field('Start file').scrollIntoViewIfNeeded();
      await photograph(page, 'on-a-cluster-form');
      await form.submit();
      await jobs.isTold('Submitted “on the cluster”');
      await jobs.rowSays('on the cluster', 'running');

      const [{ id, cluster }] = await lab.ask('GET', 'jobs');
      assert.equal(cluster, 'lab');
      const job = new JobPage(page, 'on the cluster');
      await job.open(id, 'logs');
      await job.logShows(STEP);
      await photograph(page, 'on-a-cluster-log');

      await page.evaluate(() => void window.jupyterapp.commands.execute('jupyter-aiarts:open-cluster'));
      const view = page.getByRole('region', { name: 'AIArts cluster' });
      const boards = view.getByRole('option', { name: new RegExp(`${NPU}, \\d of 8 cards free`) });
      await boards.nth(1).waitFor();
      assert.equal(await boards.count(), 2);
      const holding = view.getByRole('option', { name: /6 of 8 cards free/ });
      await holding.click();
      await view.getByRole('complementary').getByText('on the cluster').waitFor();
      await view.getByRole('complementary').getByText(/^In use just now: [\d.]+ CPUs, [\d.]+ GB of memory$/).waitFor();
      await photograph(page, 'on-a-cluster-nodes');

      await jobs.move('on the cluster', 'Stop', 'Stop');
      await jobs.isTold('Stopped “on the cluster”');
      await jobs.rowSays('on the cluster', 'stopped');
      await jobs.move('on the cluster', 'Run again');
      await jobs.rowSays('on the cluster', 'run 2');
      await jobs.rowSays('on the cluster', 'running');
      await job.open(id, 'logs');
      await job.says('run 2');
      await job.logShows(STEP);
      await jobs.move('on the cluster', 'Delete', 'Delete');
      await jobs.isTold('Deleted “on the cluster”');
      await jobs.says('No jobs yet');

      const small = { cpu: 0.25, memory_gb: 0.25 };
      await lab.ask('POST', 'jobs', { name: 'on this machine', command: 'true' });
      await lab.ask('POST', 'jobs', { name: 'in pods', command: 'true', cluster: 'lab', image: IMAGE, ...small });
      await lab.ask('POST', 'jobs', { name: 'in line', command: 'true', cluster: 'lab', image: IMAGE, queue: 'cards', ...small });
      for (const name of ['on this machine', 'in pods', 'in line']) {
        await jobs.rowSays(name, 'succeeded');
      }
      const choose = (what, value) => jobs.panel.getByRole('combobox', { name: what, exact: true }).selectOption(value);
      const onlyThese = async (...names) => {
        await page.waitForFunction(
          ([count, label]) => document.querySelectorAll(`[aria-label="${label}"] [role=row][aria-level="2"]`).length === count,
          [names.length, 'AIArts jobs']
        );
        for (const name of names) {
          await jobs.row(name).waitFor();
        }
      };
      await choose('Cluster', 'lab');
      await onlyThese('in pods', 'in line');
      await choose('Queue', 'cards');
      await onlyThese('in line');
      await photograph(page, 'on-a-cluster-filtered');
      await choose('Queue', '');
      await choose('Cluster', 'local');
      await onlyThese('on this machine');
      await choose('Cluster', '');
      await onlyThese('on this machine', 'in pods', 'in line');
    }
  ));
