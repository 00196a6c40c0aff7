import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { serious } from './axe.mjs';
import { Browser, photograph } from './browser.mjs';
import { FormPage } from './form-page.mjs';
import { Lab } from './lab.mjs';
import { withSidebar } from './with-sidebar.mjs';

const PYTHON = fileURLToPath(new URL('../../.venv/bin/python', import.meta.url));
const AT_ONCE = 15_000; // JupyterLab by itself looks once a minute
const NAME = "训练 it's";

let browser;

before(async () => {
  browser = await Browser.start();
});

after(() => browser?.close());

/** What conda leaves on a disk, with the packages of the environment that runs the tests. */
async function makeEnvironment(path) {
  const asked = 'import json, sys, os, sysconfig; print(json.dumps([os.path.realpath(sys.executable), sysconfig.get_path("purelib")]))';
  const [python, packages] = JSON.parse(execFileSync(PYTHON, ['-c', asked], { encoding: 'utf8' }));
  const site = join(path, 'lib', dirname(packages).split('/').pop(), 'site-packages');
  for (const folder of ['conda-meta', 'bin', 'etc/conda/activate.d']) {
    await mkdir(join(path, folder), { recursive: true });
  }
  await mkdir(site, { recursive: true });
  await symlink(python, join(path, 'bin/python'));
  const files = {
    'pyvenv.cfg': `home = ${dirname(python)}\n`,
    'conda-meta/history': '',
    'conda-meta/python-3.11.4-h1.json': '{}',
    'conda-meta/ipykernel-6.29.0-py_0.json': '{}',
    'etc/conda/activate.d/a.sh': 'export FROM_SCRIPT="script of $CONDA_DEFAULT_ENV"\n'
  };
  await writeFile(join(site, 'tests.pth'), `${packages}\n`);
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(path, name), text)));
}

test('a kernel made of an environment is in the launcher at once, starts activated, and goes at once', async () => {
  const lab = await Lab.start();
  const page = await browser.context.newPage();
  const card = page.locator(`.jp-LauncherCard[data-category="Notebook"][title*="${NAME} (conda)"]`);
  try {
    const listens = new Promise(heard =>
      page.on('websocket', socket => socket.url().includes('/aiarts/stream') && socket.once('framereceived', heard))
    );
    await page.goto(lab.page);
    await page.locator('.jp-Launcher').waitFor();
    await listens;
    await makeEnvironment(join(lab.home, 'miniconda3/envs', NAME));
    const { spec } = await lab.ask('POST', 'kernels/register', { which: NAME, scope: 'user' });
    await card.waitFor({ timeout: AT_ONCE });
    await photograph(page, 'kernel-launcher');

    await card.click();
    await page.getByText(`${NAME} (conda) | Idle`).waitFor({ timeout: 60_000 }); // what is run before that may be lost
    const cell = page.locator('.jp-Notebook .jp-Cell .cm-content').first();
    await cell.click();
    await page.keyboard.insertText('import os; print(os.environ["FROM_SCRIPT"], os.environ["CONDA_PREFIX"])');
    await page.keyboard.press('Shift+Enter');
    const said = page.locator('.jp-OutputArea-output', { hasText: `script of ${NAME}` });
    await said.waitFor({ timeout: 60_000 });
    assert.match(await said.innerText(), /miniconda3\/envs/);
    await photograph(page, 'kernel-runs');

    await page.locator('.jp-FileBrowser [data-command="launcher:create"]').click();
    await card.waitFor();
    await lab.ask('POST', 'kernels/unregister', { which: spec });
    await card.waitFor({ state: 'detached', timeout: AT_ONCE });
  } finally {
    await photograph(page, 'kernel-end');
    await page.close();
    await lab.remove();
  }
});

/** An environment without ipykernel. Its pip, which has no network here, goes on when the file `go` is beside it. */
async function makeBare(path) {
  await makeEnvironment(path);
  await rm(join(path, 'conda-meta/ipykernel-6.29.0-py_0.json'));
  await writeFile(join(path, 'conda-meta/pip-24.0-py_0.json'), '{}');
  await rename(join(path, 'bin/python'), join(path, 'bin/python-real'));
  const lines = [
    '#!/bin/sh',
    'here=$(dirname "$(dirname "$0")")',
    'if [ "$2" != pip ]; then exec "$here/bin/python-real" "$@"; fi',
    'echo $$ > "$here/pid"',
    'echo "Collecting ipykernel"',
    'echo "Downloading ipykernel-6.29.0.whl (114 kB)"',
    'while [ ! -e "$here/go" ]; do sleep 0.1; done',
    'echo "{}" > "$here/conda-meta/ipykernel-6.29.0-py_0.json"',
    'echo "Successfully installed ipykernel-6.29.0"'
  ];
  await writeFile(join(path, 'bin/python'), `${lines.join('\n')}\n`, { mode: 0o755 });
}

/** The section of the sidebar as a user sees it. */
class Section {
  constructor(jobs, title = 'Environments and kernels') {
    this.section = jobs.panel.locator('.aiarts-Kernels');
    this.title = title;
  }

  async open() {
    await this.section.getByText(this.title, { exact: true }).click();
  }

  row(name) {
    return this.section.locator(`li[data-environment="${name}"]`);
  }

  /** Unfold one environment. */
  async unfold(name) {
    await this.row(name).locator('summary').click();
  }

  async press(name, label) {
    await this.row(name).getByRole('button', { name: label, exact: true }).click();
  }

  async says(text) {
    await this.section.locator('.aiarts-Kernels-said', { hasText: text }).waitFor();
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function until(isTrue) {
  for (let tries = 0; tries < 100 && !isTrue(); tries += 1) {
    await new Promise(resolve => setTimeout(resolve, 100));
  }
  assert.ok(isTrue());
}

test('from the sidebar a kernel is made, examined, trained with and removed', () =>
  withSidebar(browser, { name: 'kernels-sidebar' }, async (lab, jobs) => {
    const section = new Section(jobs);
    const path = join(lab.home, 'miniconda3/envs', NAME);
    const card = jobs.page.locator(`.jp-LauncherCard[data-category="Notebook"][title*="${NAME} (conda)"]`);
    await section.open();
    await makeEnvironment(path); // while somebody looks: it comes by itself
    await section.row(NAME).waitFor({ timeout: AT_ONCE });
    await section.unfold(NAME);
    await section.press(NAME, 'Register for me');
    await section.says('is a kernel now');
    await card.waitFor({ timeout: AT_ONCE });
    await section.row(NAME).getByText('for you').waitFor();
    await section.press(NAME, 'Examine');
    await section.says('Nothing is wrong with');
    await section.press(NAME, 'Size');
    await section.says(`${NAME} takes`);
    await photograph(jobs.page, 'kernels-registered');
    assert.deepEqual(await serious(section.section), []);

    await section.press(NAME, 'Train with it…');
    const form = new FormPage(jobs.page);
    await form.form.waitFor();
    assert.equal(await form.field('Python environment').inputValue(), path);
    await photograph(jobs.page, 'kernels-train');
    const script = await lab.write('work/train.py', 'import os; print("in", os.environ["CONDA_PREFIX"])\n');
    await form.fill({ 'Start file': script, Name: 'with it' });
    await form.submit();
    await jobs.rowSays('with it', 'succeeded');
    const [{ id }] = await lab.ask('GET', 'jobs');
    const lines = await lab.ask('GET', `jobs/${id}/logs`);
    assert.deepEqual(lines.map(({ text }) => text), [`in ${path}`]);

    await section.press(NAME, 'Unregister');
    await section.says('is no kernel any more');
    await card.waitFor({ state: 'detached', timeout: AT_ONCE });
  }));

test('a venv that nothing names is added by its folder', () =>
  withSidebar(browser, { name: 'kernels-venv' }, async (lab, jobs) => {
    const section = new Section(jobs);
    const path = join(lab.home, 'odd place', 'my venv');
    execFileSync(PYTHON, ['-m', 'venv', '--without-pip', path]);
    await section.open();
    const field = section.section.getByRole('textbox', { name: 'The folder of a venv' });
    await field.fill(join(lab.home, 'odd place'));
    await field.press('Enter');
    await section.says('No environment or kernel is called');
    await field.fill(path);
    await field.press('Enter');
    await section.says('is a kernel now');
    await section.row('my venv').getByText('for you').waitFor();
    await jobs.page.locator('.jp-LauncherCard[data-category="Notebook"][title*="my venv (venv)"]').waitFor({ timeout: AT_ONCE });
    await photograph(jobs.page, 'kernels-venv');
  }));

test('ipykernel is installed by one press, with progress, and can be given up', () =>
  withSidebar(browser, { name: 'kernels-install' }, async (lab, jobs) => {
    const section = new Section(jobs);
    const path = join(lab.home, 'miniconda3/envs/bare');
    await makeBare(path);
    await section.open();
    await section.press('bare', 'Install ipykernel');
    await section.row('bare').getByText('Downloading ipykernel').waitFor();
    await photograph(jobs.page, 'kernels-installing');
    assert.deepEqual(await serious(section.section), []);
    const pid = Number(await readFile(join(path, 'pid'), 'utf8'));
    assert.ok(isAlive(pid));
    await section.press('bare', 'Cancel');
    await section.says('given up');
    await until(() => !isAlive(pid));

    await section.press('bare', 'Install ipykernel');
    await section.row('bare').getByText('Downloading ipykernel').waitFor();
    await writeFile(join(path, 'go'), '');
    await section.says('is repaired');
    await section.row('bare').getByRole('button', { name: 'Install ipykernel' }).waitFor({ state: 'detached' });
  }));

test('what a doctor finds, and a kernel whose environment is gone, in Chinese', () =>
  withSidebar(browser, { name: 'kernels-chinese', locale: 'zh_CN', theme: 'JupyterLab Dark', title: 'AIArts 任务' }, async (lab, jobs) => {
    const section = new Section(jobs, '环境与内核');
    const [broken, gone] = ['broken', 'gone'].map(name => join(lab.home, 'miniconda3/envs', name));
    await makeEnvironment(broken);
    await writeFile(join(broken, 'conda-meta/opencv-python-4.9-py_0.json'), '{}');
    const site = execFileSync('find', [broken, '-name', 'site-packages'], { encoding: 'utf8' }).trim();
    const said = 'libGL.so.1: cannot open shared object file: No such file or directory';
    await writeFile(join(site, 'cv2.py'), `raise ImportError(${JSON.stringify(said)})\n`);
    await makeEnvironment(gone);
    await lab.ask('POST', 'kernels/register', { which: 'gone', scope: 'user' });
    await rm(gone, { recursive: true });
    await section.open();
    await section.unfold('broken');
    await section.press('broken', '检查');
    await section.says('libGL.so.1');
    await photograph(jobs.page, 'kernels-doctor');
    assert.deepEqual(await serious(section.section), []);
    await section.press('gone', '移除内核');
    await section.row('gone').waitFor({ state: 'detached' });
  }));
