/**
 * Every page in both languages, light and dark: pictures to look at, nothing that axe calls serious, and in Chinese no
 * sentence of ours in another language.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { serious } from './axe.mjs';
import { Browser, photograph } from './browser.mjs';
import { FormPage } from './form-page.mjs';
import { JobPage } from './job-page.mjs';
import { JobsPage } from './jobs-page.mjs';
import { Lab } from './lab.mjs';

let browser;

before(async () => {
  browser = await Browser.start();
});

after(() => browser?.close());

const NPU = 'huawei_npu_arm64';
const THEMES = [
  ['', 'JupyterLab Light'],
  ['-dark', 'JupyterLab Dark']
];
const LANGUAGES = {
  '': {
    options: {},
    words: { jobs: 'AIArts jobs', region: 'Job', log: 'Log lines', cluster: 'AIArts cluster', form: 'New job', waits: 'Waiting for' }
  },
  '-chinese': {
    options: { locale: 'zh_CN' },
    words: { jobs: 'AIArts 任务', region: '任务', log: '日志行', cluster: 'AIArts 集群', form: '新建任务', waits: '等待' }
  }
};

const TRAINING = `
import os, time
for step in range(2, 6000):
    print(f"epoch 1/4 \\x1b[32mloss={1 / step:.4f}\\x1b[0m rank {os.environ['RANK']}", flush=True)
    time.sleep(0.1)
`;

/** Sentences in English that are ours: not in what a job wrote, a path, a key, or a name. */
const english = root =>
  root.evaluate(top => {
    const theirs = 'code, pre, input, textarea, option, [role=log], .aiarts-Evidence, .aiarts-Json';
    const walker = document.createTreeWalker(top, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
      const { parentElement, textContent } = walker.currentNode;
      if (!parentElement.closest(theirs) && /[a-z]+( [a-z]+){2,}/.test(textContent)) {
        found.push(textContent);
      }
    }
    return found;
  });

/** Jobs of several phases: two that run, one that waits for their cards, one that failed, one that is done. */
async function someJobs(lab) {
  const script = await lab.write('work/train.py', TRAINING);
  const bad = await lab.write('work/bad.py', 'import sys\nprint("started")\nprint("careful", file=sys.stderr)\nimport no_such_module\n');
  const done = await lab.write('work/done.py', 'print(1)\n');
  const jobs = {};
  for (const [name, spec] of Object.entries({
    resnet50: { script, device: NPU, devices: 4, cpu: 0.5 },
    'bert 预训练': { script, device: 'cpu', kind: 'distributed', nodes: 2, cpu: 0.2 },
    llama: { script, device: NPU, devices: 8, cpu: 0.1 },
    mnist: { script: bad, device: 'cpu', cpu: 0.1 },
    tokens: { script: done, device: 'cpu', cpu: 0.1 }
  })) {
    jobs[name] = await lab.ask('POST', 'jobs', { name, ...spec });
  }
  return jobs;
}

for (const [language, { options, words }] of Object.entries(LANGUAGES)) {
  test(`every page, light and dark, in ${language === '' ? 'English' : 'Chinese'}`, async () => {
    const lab = await Lab.start({ ...options, args: ['--expose-app-in-browser'], devices: { [NPU]: 8 } });
    const page = await browser.context.newPage();
    const found = [];
    /** A picture in each theme, and what is wrong with what it shows. */
    const look = async (name, root) => {
      for (const [suffix, theme] of THEMES) {
        await page.evaluate(to => window.jupyterapp.commands.execute('apputils:change-theme', { theme: to }), theme);
        await page.locator(`body[data-jp-theme-name="${theme}"]`).waitFor({ state: 'attached' });
        await page.locator('#jupyterlab-splash').waitFor({ state: 'detached' });
        await photograph(page, `page-${name}${language}${suffix}`);
        found.push(...(await serious(root)).map(one => `${name}, ${theme}: ${one}`));
      }
      if (language !== '') {
        found.push(...(await english(root)).map(one => `${name}: ${one}`));
      }
    };
    try {
      const jobs = await someJobs(lab);
      const errors = await JobPage.load(page, lab.page);
      const list = new JobsPage(page, words.jobs);
      await list.tab.click();
      await list.row('mnist').getByText('no_such_module').waitFor();
      await list.row('llama').getByText(words.waits).waitFor();
      await list.row('resnet50').getByRole('progressbar').waitFor();
      await list.row('bert').getByText('epoch 1/4').waitFor();
      await page.evaluate(() => window.jupyterapp.commands.execute('apputils:dismiss-notifications').catch(() => null));

      const failed = new JobPage(page, 'mnist', words);
      await failed.open(jobs.mnist.id);
      await failed.region.getByText('ModuleNotFoundError').first().waitFor();
      await look('jobs', list.panel);
      await look('overview', failed.region);
      await failed.open(jobs.mnist.id, 'events');
      await failed.region.getByRole('table').waitFor();
      await look('events', failed.region);

      const two = new JobPage(page, 'bert 预训练', words);
      await two.open(jobs['bert 预训练'].id, 'logs');
      await two.logShows('rank 1');
      await look('logs', two.region);

      const cards = new JobPage(page, 'resnet50', words);
      await cards.open(jobs.resnet50.id, 'ranks');
      await cards.region.getByText('RANK_TABLE_FILE').waitFor();
      await look('ranks', cards.region);
      await cards.open(jobs.resnet50.id, 'usage');
      await look('usage', cards.region);
      await cards.open(jobs.resnet50.id, 'overview');
      await look('running', cards.region);

      await page.evaluate(() => void window.jupyterapp.commands.execute('jupyter-aiarts:open-cluster'));
      const cluster = page.getByRole('region', { name: words.cluster });
      await cluster.getByRole('option').first().waitFor();
      await look('cluster', cluster);

      const spec = { script: 'train.py', device: NPU, devices: 8, cpu: 0.1 };
      await page.evaluate(args => void window.jupyterapp.commands.execute('jupyter-aiarts:new-job', args), { spec });
      const { form } = new FormPage(page, words.form);
      await form.locator('.aiarts-Verdict[data-kind=waits]').waitFor();
      await look('form', form);
      await form.locator('details > summary').click();
      await look('form-advanced', form);
      assert.deepEqual([...new Set(found)], []);
      assert.deepEqual(errors, []);
    } finally {
      await page.close();
      await lab.endJobs();
      await lab.remove();
    }
  });
}
