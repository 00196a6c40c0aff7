/**
 * The pictures of the guides, taken of a real JupyterLab: `node tests/docs/pictures.mjs [NAME…]`, after `make ui` has
 * installed the browser's driver. They are looked at and committed by hand; no test depends on pixels.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Browser } from '../ui/browser.mjs';
import { JobsPage } from '../ui/jobs-page.mjs';
import { Lab } from '../ui/lab.mjs';

const IMAGES = fileURLToPath(new URL('../../docs/images/', import.meta.url));

const cell = source => ({ cell_type: 'code', id: source.slice(0, 8).replace(/\W/g, '-'), metadata: {}, source, outputs: [], execution_count: null });

/** A short notebook that shows one job from start to explanation. */
const NOTEBOOK = {
  cells: [
    cell('%load_ext jupyter_aiarts'),
    cell('%%aiarts submit --name reader --wait\nwith open("words.txt") as file:\n    print(len(file.read().split()), "words")'),
    cell('%aiarts jobs')
  ],
  metadata: { kernelspec: { name: 'python3', display_name: 'Python 3' } },
  nbformat: 4,
  nbformat_minor: 5
};

const TRAIN = `
import pathlib, time
print("epoch 1 loss 1.000")
while not pathlib.Path(__file__).with_name("go").exists():
    time.sleep(0.05)
`;

const wanted = process.argv.slice(2);

/** Run `steps` on a page of a new JupyterLab and keep what it shows as docs/images/NAME.png. */
async function picture(browser, name, { locale = null, title, path = '', clip }, steps) {
  if (wanted.length && !wanted.includes(name)) {
    return;
  }
  const lab = await Lab.start({ locale });
  const page = await browser.context.newPage();
  try {
    await lab.write('work/first.ipynb', NOTEBOOK);
    const jobs = new JobsPage(page, title);
    await jobs.open(lab.page.replace('lab?', `lab${path}?`));
    await steps(lab, jobs, page);
    await mkdir(IMAGES, { recursive: true });
  } finally {
    await page.screenshot({ path: join(IMAGES, `${name}.png`), clip });
    await lab.write('work/go', '');  // jobs outlive the server; this one ends when it sees the file
    await page.close();
    await lab.remove();
  }
}

async function someJobs(lab) {
  const script = await lab.write('work/train.py', TRAIN);
  const broken = await lab.write('work/evaluate.py', 'import argparse\nraise FileNotFoundError("no checkpoint in ./out")\n');
  await lab.ask('POST', 'jobs', { name: 'prepare', command: 'echo ready' });
  await lab.ask('POST', 'jobs', { name: 'evaluate', script: broken });
  await lab.ask('POST', 'jobs', { name: '训练 resnet', script, nodes: 2 });
  await lab.ask('POST', 'jobs', { name: 'too big', script, device: 'huawei_npu_arm64', devices: 8 });
}

async function jobsRun(lab, jobs, words) {
  await someJobs(lab);
  await jobs.rowSays('prepare', words.succeeded);
  await jobs.rowSays('evaluate', words.failed);
  await jobs.rowSays('训练 resnet', words.running);
  await jobs.rowSays('too big', words.queued);
}

const browser = await Browser.start();
try {
  const english = { succeeded: 'succeeded', failed: 'failed', running: 'running', queued: 'queued' };
  const clip = { x: 0, y: 0, width: 520, height: 500 };
  await picture(browser, 'sidebar', { clip }, (lab, jobs) => jobsRun(lab, jobs, english));
  const chinese = { succeeded: '成功', failed: '失败', running: '运行', queued: '排队' };
  await picture(browser, 'sidebar-chinese', { clip, locale: 'zh_CN', title: 'AIArts 任务' }, (lab, jobs) => jobsRun(lab, jobs, chinese));
  await picture(browser, 'notebook', { path: '/tree/first.ipynb' }, async (lab, jobs, page) => {
    await page.getByText('Python 3 (ipykernel) | Idle').waitFor();
    await page.locator('.jp-Notebook .cm-content').first().click();
    for (let count = 0; count < NOTEBOOK.cells.length; count++) {
      await page.keyboard.press('Shift+Enter');
    }
    await jobs.rowSays('reader', 'failed');
    await page.getByRole('table').first().waitFor();
  });
} finally {
  await browser.close();
}
