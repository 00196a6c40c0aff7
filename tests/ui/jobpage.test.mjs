import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';

import { Browser, photograph } from './browser.mjs';
import { JobPage } from './job-page.mjs';
import { Lab } from './lab.mjs';
import { stumblingBlocks } from './reachable.mjs';

const EXPOSED = '--expose-app-in-browser';
let browser;
let lab;

before(async () => {
  browser = await Browser.start();
  lab = await Lab.start({ args: [EXPOSED] });
});

after(async () => {
  await browser?.close();
  await lab?.endJobs();
  await lab?.remove();
});

let scripts = 0;

/** Submit a Python script; the answer is the job. */
async function submit(name, source, spec = {}) {
  const script = await lab.write(`work/script${++scripts}/train.py`, source);
  return lab.ask('POST', 'jobs', { name, script, ...spec });
}

/** Wait until the server says that a job is in this phase. */
async function reaches(id, phase) {
  for (let tries = 0; tries < 300; tries++) {
    const job = await lab.ask('GET', `jobs/${id}`);
    if (job.phase === phase) {
      return job;
    }
    await new Promise(resolve => setTimeout(resolve, 100));
  }
  throw new Error(`${id} is not ${phase}`);
}

/** Load JupyterLab, run the steps, keep a picture of the end whatever it was. */
async function withPage(picture, steps, at = lab) {
  const page = await browser.context.newPage();
  try {
    const errors = await JobPage.load(page, `${at.page}&reset`);
    await steps(page);
    assert.deepEqual(errors, []);
  } finally {
    await photograph(page, picture);
    await page.close();
  }
}

const WAITING = `
import pathlib, time
print("training", flush=True)
while not pathlib.Path(__file__).with_name("go").exists():
    time.sleep(0.05)
`;

test('a job page shows the job as it is, and stops it when that is confirmed', () =>
  withPage('job-overview', async page => {
    const job = await submit('训练 <b>bold</b>', WAITING, { params: { lr: 0.1 } });
    const view = new JobPage(page, '训练 <b>bold</b>');
    await view.open(job.id);
    await view.region.getByText('running', { exact: true }).first().waitFor();
    await view.region.getByRole('region', { name: 'Paths' }).getByText(job.spec.script).waitFor();
    await view.region.getByRole('button', { name: `Where is ${job.spec.script}?` }).click();
    await view.says('in the job');
    await photograph(page, 'job-running');

    await view.press('Stop');
    await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
    await view.region.getByText('stopped', { exact: true }).first().waitFor();
    assert.equal(await page.locator('b', { hasText: 'bold' }).count(), 0);

    await view.press('Run again');
    await view.says('run 2');
    await view.region
      .getByRole('region', { name: 'Timeline' })
      .getByRole('row', { name: /^Run 2 running/ })
      .waitFor();
    await photograph(page, 'job-second-run');
    await view.tab('Logs');
    await view.logShows('training');
    await view.region.getByRole('combobox', { name: 'Run' }).selectOption('1');
    await view.says('The run has ended');
    await lab.ask('DELETE', `jobs/${job.id}`);
    await view.says('This job was deleted.');
  }));

test('a failed job says why, with its evidence, and shows what a fix changes before it is applied', () =>
  withPage('job-failed', async page => {
    const job = await submit('broken', 'import no_such_module\n');
    await reaches(job.id, 'failed');
    const view = new JobPage(page, 'broken');
    await view.open(job.id);
    await view.region.getByRole('list', { name: 'What shows it' }).waitFor();
    await view.region.getByRole('list', { name: 'What can be done' }).getByRole('button').first().click();
    await view.region
      .getByRole('button', { name: 'Copy the command' })
      .or(view.region.getByRole('button', { name: 'Apply' }))
      .first()
      .waitFor();
  }));

/** Prints a line whenever the test makes a file, so that the test decides when. */
const TALKING = `
import pathlib, sys, time
here = pathlib.Path(__file__).parent
print("\\x1b[32mgreen\\x1b[0m <img src=x onerror=alert(1)> http://example.org/a.", flush=True)
print("warned", file=sys.stderr, flush=True)
for n in range(300):
    print("early", n, flush=True)
batch = 0
while not (here / "go").exists():
    if (here / f"batch{batch}").exists():
        for n in range(10):
            print(f"batch {batch} line {n}", flush=True)
        batch += 1
    time.sleep(0.02)
`;

test('a log is followed, waits for its reader, and says what came meanwhile', () =>
  withPage('log-paused', async page => {
    const job = await submit('talking', TALKING);
    const folder = `work/script${scripts}`;
    const view = new JobPage(page, 'talking');
    await view.open(job.id, 'logs');
    await view.logShows('early 299');
    await lab.write(`${folder}/batch0`, '');
    await view.logShows('batch 0 line 9');

    await view.log.hover();
    await page.mouse.wheel(0, -2000);
    await view.says('Paused');
    await lab.write(`${folder}/batch1`, '');
    const more = view.region.getByRole('button', { name: '10 new lines' });
    await more.waitFor();
    assert.equal(await view.log.getByText('batch 1 line 9').count(), 0);
    await photograph(page, 'log-new-lines');
    await more.click();
    await view.logShows('batch 1 line 9');
    await view.says('Following');

    await page.keyboard.press('Control+Home').catch(() => undefined);
    await view.log.focus();
    await page.keyboard.press('Control+Home');
    await view.logShows('green');
    assert.equal(await view.log.locator('img').count(), 0);
    assert.match(await view.log.textContent(), /<img src=x onerror=alert\(1\)>/);
    assert.equal(await view.log.getByRole('link').getAttribute('href'), 'http://example.org/a');
    await lab.write(`${folder}/go`, '');
    await reaches(job.id, 'succeeded');
  }));

test('a log that is followed stays at its end and fills its place, whatever happens to the window and the theme', () =>
  withPage('log-resized', async page => {
    const other = await submit('other', 'print(1)\n');
    const job = await submit('resized', 'import time\nfor n in range(6000):\n    print("line", n, flush=True)\n    time.sleep(0.02)\n');
    await new JobPage(page, 'other').open(other.id);
    const view = new JobPage(page, 'resized');
    await view.open(job.id, 'logs');
    await view.logShows(/^line \d{3,}$/); // more than a window holds
    const fills = () =>
      view.log.evaluate(log => {
        const rows = [...log.querySelectorAll('.aiarts-LogRow')].map(row => row.getBoundingClientRect());
        const { top, bottom } = log.getBoundingClientRect();
        return Math.min(...rows.map(row => row.top)) <= top && Math.max(...rows.map(row => row.bottom)) >= bottom - 20;
      });
    const settles = async what => {
      for (let tries = 0; !(await fills()); tries++) {
        assert.ok(tries < 50, what);
        await page.waitForTimeout(100);
      }
      await view.says('Following');
    };
    for (const height of [500, 900, 430, 800]) {
      await page.setViewportSize({ width: 1280, height });
      await settles(`a window of ${height} pixels`);
    }
    for (const theme of ['JupyterLab Dark', 'JupyterLab Light', 'JupyterLab Dark', 'JupyterLab Light']) {
      await page.evaluate(to => window.jupyterapp.commands.execute('apputils:change-theme', { theme: to }), theme);
      await page.locator('#jupyterlab-splash').waitFor({ state: 'detached' });
      await settles(theme);
    }
    await lab.ask('DELETE', `jobs/${job.id}`);
  }));

test('before anything is printed the log says why', () =>
  withPage('log-silent', async page => {
    const first = await submit('first', WAITING, { cpu: 2 });
    const folder = `work/script${scripts}`;
    await reaches(first.id, 'running');
    const second = await submit('second', 'print("at last", flush=True)', { cpu: 2 });
    const view = new JobPage(page, 'second');
    await view.open(second.id, 'logs');
    await view.says('Not started yet');
    await photograph(page, 'log-not-started');
    await lab.write(`${folder}/go`, '');
    await view.logShows('at last');
  }));

const LONG = `
import sys
out = []
for n in range(100000):
    out.append(f"step {n} loss={1 / (n + 1):.6f}" if n != 41234 else "ValueError: shapes (3,4) and (5,6) not aligned")
sys.stdout.write("\\n".join(out) + "\\n")
`;

test('100,000 lines open at their end, scroll, are searched and counted', () =>
  withPage('log-long', async page => {
    const job = await submit('long', LONG);
    await reaches(job.id, 'succeeded');
    const view = new JobPage(page, 'long');
    await view.open(job.id, 'logs');
    await view.logShows('step 99999');
    await view.says('The run has ended');

    await view.log.hover();
    for (let turn = 0; turn < 15; turn++) {
      await page.mouse.wheel(0, -8000);
      await page.waitForTimeout(100);
    }
    // What is older has come: rows beyond the edge are drawn too, so one of it is, wherever the reader is.
    await view.log.locator('.aiarts-LogRow').filter({ hasText: /step 9[0-8]\d{3} / }).first().waitFor();
    const drawn = await view.log.locator('.aiarts-LogRow').count();
    assert.ok(drawn > 10 && drawn <= 200, `${drawn} rows are drawn`);
    const [first] = await view.log.locator('.aiarts-LogRow').allTextContents();
    assert.ok(Number(/step (\d+)/.exec(first)[1]) < 99_000, `still at ${first}`);

    await page.keyboard.press('Control+f');
    await view.region.getByRole('searchbox', { name: 'Search the log' }).fill('step 7777\\d ');
    await page.keyboard.press('Enter');
    await view.says('match 10 of 10');
    await view.logShows('step 77779 ');
    await photograph(page, 'log-search');
    await view.press('Match before');
    await view.says('match 9 of 10');

    await view.press('First error');
    await view.logShows('ValueError: shapes (3,4)');
    await view.logShows('step 41233 ');
    const [file] = await Promise.all([page.waitForEvent('download'), view.region.getByRole('link', { name: 'Download' }).click()]);
    const lines = (await readFile(await file.path(), 'utf-8')).trimEnd().split('\n');
    assert.equal(lines.length, 100_000);
    assert.match(lines[99_999], /step 99999 /);
    await view.press('Wrap');
    await view.press('Times');
    await view.log.focus();
    await page.keyboard.press('Control+Home');
    await view.logShows('step 0 ');
    await page.keyboard.press('End');
    await view.logShows('step 99999');
  }));

test('two ranks are told apart, one can be chosen, and their environments compared', () =>
  withPage('job-environment', async page => {
    const job = await submit('two', 'import os\nprint("I am", os.environ["RANK"], flush=True)\n', {
      kind: 'distributed',
      nodes: 2
    });
    await reaches(job.id, 'succeeded');
    const view = new JobPage(page, 'two');
    await view.open(job.id, 'logs');
    await view.logShows('I am 0');
    await view.logShows('I am 1');
    await photograph(page, 'log-ranks');
    await view.region.getByRole('combobox', { name: 'Rank' }).selectOption('1');
    await view.logShows('I am 1');
    await view.log.getByText('I am 0').waitFor({ state: 'detached' });

    await view.tab('Environment and ranks');
    await view.region.getByRole('combobox', { name: 'Compare with' }).selectOption('1');
    await view.region.getByRole('row', { name: /^NODE_RANK 0 1$/ }).waitFor();
    assert.equal(await view.region.getByRole('row', { name: /^MASTER_PORT/ }).count(), 0);
  }));

test('a page whose job is deleted elsewhere says so; a reload brings pages back', () =>
  withPage('job-deleted', async page => {
    const job = await submit('kept', 'print("done")');
    await reaches(job.id, 'succeeded');
    const view = new JobPage(page, 'kept');
    await view.open(job.id);
    await view.tab('Events');
    await view.open(job.id);
    assert.equal(await page.getByRole('tab', { name: 'kept', exact: true }).count(), 1, 'one tab for one job');
    await lab.keepsLayout(`aiarts-job:${job.id}`, ({ tab }) => tab === 'events');
    await page.goto(lab.page);
    await view.region.waitFor();
    assert.equal(await view.region.getByRole('tab', { name: 'Events' }).getAttribute('aria-selected'), 'true');

    await lab.ask('DELETE', `jobs/${job.id}`);
    await view.says('This job was deleted.');
    assert.equal(await view.region.getByRole('button', { name: 'Run again' }).count(), 0);
  }));

test('with the keyboard alone: from tab to tab, into the log, to its search', () =>
  withPage('job-keyboard', async page => {
    const job = await submit('keys', 'for n in range(50): print("line", n)');
    await reaches(job.id, 'succeeded');
    const view = new JobPage(page, 'keys');
    await view.open(job.id);
    await view.region.getByRole('tab', { name: 'Overview' }).focus();
    await page.keyboard.press('ArrowRight');
    await view.logShows('line 49');
    assert.equal(
      await view.region.getByRole('tab', { name: 'Logs' }).evaluate(node => node === document.activeElement),
      true
    );
    await view.log.focus();
    await page.keyboard.press('/');
    await page.keyboard.type('line 7');
    await page.keyboard.press('Enter');
    await view.says('match 1 of 1');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('aria-label')), 'Match before');
  }));

test('every tab can be reached and has names for all it shows', () =>
  withPage('job-usage', async page => {
    const job = await submit('reachable', 'import no_such_module\n', { kind: 'distributed', nodes: 2 });
    await reaches(job.id, 'failed');
    const view = new JobPage(page, 'reachable');
    await view.open(job.id);
    for (const tab of ['Overview', 'Logs', 'Environment and ranks', 'Events', 'Usage']) {
      await view.tab(tab);
      await page.waitForTimeout(500);
      assert.deepEqual(await stumblingBlocks(view.region), [], tab);
      await photograph(page, `job-tab-${tab.toLowerCase().replaceAll(' ', '-')}`);
    }
  }));

/** 5,000 lines in each second for five seconds, by the clock. */
const FLOOD = `
import sys, time
started = time.monotonic()
for n in range(250):
    sys.stdout.write("".join(f"flood {n * 100 + i} \\x1b[3{i % 8}mloss={i / 7:.5f}\\x1b[0m\\n" for i in range(100)))
    sys.stdout.flush()
    time.sleep(max(0, started + (n + 1) / 50 - time.monotonic()))
`;

test('5,000 lines a second are followed to the last, with few rows drawn', t =>
  withPage('log-flood', async page => {
    await page.evaluate(() => {
      window.aiartsTasks = [];
      new PerformanceObserver(list =>
        window.aiartsTasks.push(...list.getEntries().map(entry => entry.duration))
      ).observe({ type: 'longtask' });
    });
    const job = await submit('flood', FLOOD);
    const view = new JobPage(page, 'flood');
    await view.open(job.id, 'logs');
    await view.logShows('flood');
    await page.evaluate(() => (window.aiartsTasks.length = 0));
    await reaches(job.id, 'succeeded');
    await view.logShows('flood 24999');
    const tasks = await page.evaluate(() => window.aiartsTasks);
    // How long a task takes depends on who else uses this machine, so the number is told and a wide bound is kept.
    t.diagnostic(
      `tasks over 50 ms while following: ${tasks.length}, the longest ${Math.round(Math.max(0, ...tasks))} ms`
    );
    assert.ok(Math.max(0, ...tasks) < 1000, `a task of ${Math.max(...tasks)} ms`);
    assert.ok((await view.log.locator('.aiarts-LogRow').count()) <= 200);
  }));

const REPEATING = `
import sys, time
for n in range(100):
    print("same line", flush=True)
for n in range(0, 101, 2):
    sys.stdout.write(f"\\r{n}% |{'#' * (n // 5)}")
    sys.stdout.flush()
    time.sleep(0.05)
print("\\nafter the bar", flush=True)
time.sleep(600)
`;

test('a progress bar is one row while it moves, and lines that repeat are folded where that is wished', () =>
  withPage('log-folded', async page => {
    const job = await submit('repeating', REPEATING);
    const view = new JobPage(page, 'repeating');
    await view.open(job.id, 'logs');
    await view.logShows('after the bar');
    const rows = view.log.locator('.aiarts-LogRow');
    assert.equal(await rows.filter({ hasText: '%' }).count(), 1);
    assert.match(await rows.filter({ hasText: '%' }).textContent(), /^100% \|#{20}$/);
    await view.press('Fold');
    await view.logShows('99 more like it');
    assert.equal(await rows.filter({ hasText: 'same line' }).count(), 1);
    await lab.ask('DELETE', `jobs/${job.id}`);
  }));

test('while the server is away the page says so, and goes on with the log where it was', () =>
  withPage('job-stale', async page => {
    const job = await submit('survivor', TALKING);
    const folder = `work/script${scripts}`;
    const view = new JobPage(page, 'survivor');
    await view.open(job.id, 'logs');
    await view.logShows('early 299');
    await lab.down();
    await view.says('Stale since');
    await view.says(/The connection to the server broke|The server does not answer/);
    await lab.write(`${folder}/batch0`, '');
    await photograph(page, 'job-stale-since');
    await lab.up();
    await view.logShows('batch 0 line 9');
    assert.equal(await view.log.getByText('early 299').count(), 1);
    await view.region.getByText('Stale since').waitFor({ state: 'detached' });
    await lab.write(`${folder}/go`, '');
    await reaches(job.id, 'succeeded');
  }));

test('in Chinese and on a dark theme the page speaks Chinese', async () => {
  const chinese = await Lab.start({ args: [EXPOSED], locale: 'zh_CN', theme: 'JupyterLab Dark' });
  try {
    await withPage(
      'job-chinese-dark',
      async page => {
        const script = await chinese.write(
          'work/train.py',
          'print("\\x1b[31mred\\x1b[0m 训练")\nraise ValueError("坏")\n'
        );
        const job = await chinese.ask('POST', 'jobs', { name: '训练任务', script });
        const view = new JobPage(page, '训练任务', { region: '任务', log: '日志行' });
        await view.open(job.id);
        await view.region.getByText('失败', { exact: true }).first().waitFor();
        await photograph(page, 'job-chinese-dark-overview');
        await view.tab('日志');
        await view.logShows('ValueError: 坏');
      },
      chinese
    );
  } finally {
    await chinese.remove();
  }
});
