import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { Browser, photograph } from './browser.mjs';
import { FormPage } from './form-page.mjs';
import { withSidebar } from './with-sidebar.mjs';

const BIN = fileURLToPath(new URL('../../.venv/bin/', import.meta.url));
const MAGIC = `
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for cell in ("%load_ext jupyter_aiarts", open(sys.argv[1]).read()):
    shell.run_cell(cell).raise_error()
`;
let browser;

before(async () => {
  browser = await Browser.start();
  await browser.context.grantPermissions(['clipboard-read', 'clipboard-write']);
});

after(() => browser?.close());

/** What quoting, dashes, colons and other scripts can do to a text on its way through shells and parsers. */
const SPEC = {
  name: `训练 '$(x)' "q" \`b\` !?`,
  script: 'tr ain.py',
  args: ['--verbose', '-x', 'a b', '$HOME', "it's", '--', '${RANK_ID}'],
  params: { lr: '0.1', note: `a $(b) 'c'`, amp: null, 'k:': 'v', '-dash': '1', list: ['1', '-2'], neg: '-1', 数: '=', t: 'true' },
  env: { A: '1', B: 'two  words', C: '-x', D: '# no: {comment}', E: 'null', F: '1e5' },
  cpu: 0.25,
  memory_gb: 0.5,
  priority: 7,
  preemptible: true,
  max_hours: 0.5,
  grace_seconds: 5,
  framework: 'none'
};

/** The spec of a job without what belongs to one submission alone. */
function meant({ spec }) {
  const { submission_id: _, ...rest } = spec;
  return rest;
}

async function newest(lab) {
  const [{ id }] = await lab.ask('GET', 'jobs');
  return lab.ask('GET', `jobs/${id}`);
}

test('what is copied from the form makes the same job: as a command, a magic, Python and YAML', () =>
  withSidebar(browser, { name: 'copied', args: ['--expose-app-in-browser'] }, async (lab, jobs) => {
    const { page } = jobs;
    const folder = join(lab.home, 'work');
    const spec = { ...SPEC, workdir: folder, data_path: folder, mounts: [{ source: folder, target: '/da ta', read_only: true }] };
    await lab.write('work/tr ain.py', 'print(1)\n');
    await page.evaluate(args => window.jupyterapp.commands.execute('jupyter-aiarts:new-job', args), { spec });
    const form = new FormPage(page);
    await form.isJudged(/It would/);
    const copied = {};
    for (const name of ['magic', 'command', 'Python', 'YAML']) {
      await form.form.getByRole('button', { name, exact: true }).click();
      copied[name] = await page.evaluate(() => navigator.clipboard.readText());
    }
    await photograph(page, 'form-copied');
    assert.equal(new Set(Object.values(copied)).size, 4);
    await form.submit();
    await jobs.isTold('Submitted');
    const wanted = meant(await newest(lab));
    assert.deepEqual([wanted.args, wanted.params, wanted.env], [SPEC.args, SPEC.params, SPEC.env]);

    const env = { ...process.env, PATH: `${BIN}:${process.env.PATH}`, HOME: lab.home, AIARTS_SERVER: lab.url, AIARTS_TOKEN: 'ui-test' };
    const run = (file, args) => promisify(execFile)(file, args, { cwd: folder, env });
    await lab.write('magic.txt', copied.magic);
    await lab.write('copied.py', copied.Python);
    await lab.write('job.yaml', copied.YAML);
    const ways = {
      command: () => run('sh', ['-c', copied.command]),
      magic: () => run('python', ['-c', MAGIC, join(lab.home, 'magic.txt')]),
      Python: () => run('python', [join(lab.home, 'copied.py')]),
      YAML: () => run('aiarts', ['submit', '--file', join(lab.home, 'job.yaml')])
    };
    const seen = new Set([(await newest(lab)).id]);
    for (const [name, way] of Object.entries(ways)) {
      await way();
      const job = await newest(lab);
      assert.ok(!seen.has(job.id), `${name} made no job`);
      seen.add(job.id);
      assert.deepEqual(meant(job), wanted, `${name}: ${copied[name]}`);
    }
  }));

test('what kubectl would apply comes from the server, and only for clusters', () =>
  withSidebar(
    browser,
    {
      name: 'copied-kubectl',
      args: ['--expose-app-in-browser'],
      prepare: page =>
        page.route(/aiarts\/jobs\?.*dry_run=1/, route => {
          const isManifest = route.request().url().includes('manifest=1');
          const spec = { ...route.request().postDataJSON(), cluster: 'lab' };
          return route.fulfill({ json: { spec, fits: true, notes: [], ...(isManifest ? { manifest: 'kind: Job\n' } : {}) } });
        })
    },
    async (lab, jobs) => {
      const { page } = jobs;
      await page.evaluate(args => window.jupyterapp.commands.execute('jupyter-aiarts:new-job', args), { spec: { script: 'a.py' } });
      const form = new FormPage(page);
      await form.isJudged(/It would/);
      await form.form.getByRole('button', { name: 'kubectl', exact: true }).click();
      await jobs.isTold('Copied');
      assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'kind: Job\n');
    }
  ));

test('a template is saved, shared as a command that makes it again, and chosen; what fits and what is taken stand beside', () =>
  withSidebar(
    browser,
    { name: 'form-shared', args: ['--expose-app-in-browser', "--LocalEngine.devices={'huawei_npu_arm64': 8}"] },
    async (lab, jobs) => {
      const { page } = jobs;
      const script = await lab.write('work/train.py', 'import time\ntime.sleep(600)\n');
      await lab.ask('POST', 'jobs', { name: 'holds', script, device: 'huawei_npu_arm64', devices: 2, cpu: 0.5 });
      await jobs.rowSays('holds', 'running');
      await jobs.panel.getByRole('button', { name: 'New job…' }).first().click();
      const form = new FormPage(page);
      await form.fill({ 'Start file': 'train.py', Name: "it's 模板" });
      await form.paste('Parameters 1: name', '--lr -0.1 --amp');
      await form.field('Device').selectOption('huawei_npu_arm64');
      await form.form.getByText('Fits now, jobs × cards: 6 × 1, 3 × 2, 1 × 4').waitFor();
      await form.form.getByText(/Taken of its quota: .*huawei_npu_arm64 2 \/ 8/).waitFor();
      await form.form.getByRole('button', { name: 'Save as template…' }).click();
      await page.getByRole('dialog').getByRole('textbox').fill('one-card');
      await page.getByRole('dialog').getByRole('button', { name: /ok/i }).click();
      await jobs.isTold('Saved the template one-card');
      await form.form.getByRole('combobox', { name: 'Start from' }).selectOption('one-card');
      await form.form.getByRole('button', { name: 'Share', exact: true }).click();
      await jobs.isTold('Whoever runs this command');
      await photograph(page, 'form-template');
      const copied = await page.evaluate(() => navigator.clipboard.readText());

      const saved = await lab.ask('GET', 'templates/one-card');
      assert.deepEqual(saved.spec.params, { lr: '-0.1', amp: null });
      await lab.ask('DELETE', 'templates/one-card');
      const env = { ...process.env, PATH: `${BIN}:${process.env.PATH}`, HOME: lab.home, AIARTS_SERVER: lab.url, AIARTS_TOKEN: 'ui-test' };
      await promisify(execFile)('sh', ['-c', copied], { cwd: lab.home, env });
      assert.deepEqual(await lab.ask('GET', 'templates/one-card'), saved);
    }
  ));
