import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { Browser, photograph } from './browser.mjs';
import { JobPage } from './job-page.mjs';
import { JobsPage } from './jobs-page.mjs';
import { Lab } from './lab.mjs';

let browser;

before(async () => {
  browser = await Browser.start();
});

after(() => browser?.close());

const HOSTILE = '<img src=x onerror="window.aiartsHurt=1"><script>window.aiartsHurt=1</script>';

async function withLab(picture, steps) {
  const lab = await Lab.start({ args: ['--expose-app-in-browser'] });
  const page = await browser.context.newPage();
  try {
    const errors = await JobPage.load(page, lab.page);
    await steps(lab, page);
    assert.deepEqual(errors, []);
  } finally {
    await photograph(page, picture);
    await page.close();
    await lab.endJobs().catch(() => null);
    await lab.remove();
  }
}

async function reaches(lab, id, phase, seconds = 60) {
  for (let tries = 0; tries < seconds * 5; tries++) {
    const job = await lab.ask('GET', `jobs/${id}`);
    if (job.phase === phase) {
      return job;
    }
    await new Promise(resolve => setTimeout(resolve, 200));
  }
  throw new Error(`${id} is not ${phase}`);
}

/** A thousand times a megabyte, and a last line. */
const GIGABYTE = `
import sys
part = b"".join(b"step %06d loss=0.123456 " % n + b"x" * 76 + b"\\n" for n in range(10486))
for n in range(1000):
    sys.stdout.buffer.write(part)
sys.stdout.buffer.write(b"the very last line\\n")
`;

test('a log of 1 GB opens at its end at once, and its first line is one key away', t =>
  withLab('log-gigabyte', async (lab, page) => {
    const script = await lab.write('work/train.py', GIGABYTE);
    const job = await lab.ask('POST', 'jobs', { name: 'gigabyte', script });
    await reaches(lab, job.id, 'succeeded', 240);
    const view = new JobPage(page, 'gigabyte');
    await view.open(job.id);
    const answers = [];
    page.on('response', response => /\/logs\?/.test(response.url()) && answers.push(response.body().catch(() => '')));
    const started = Date.now();
    await view.tab('Logs');
    await view.logShows('the very last line');
    const took = Date.now() - started;
    t.diagnostic(`1 GB: the last line after ${took} ms`);
    assert.ok(took < 5000, `it took ${took} ms`); // wide, for a machine that others use too
    const bytes = (await Promise.all(answers)).reduce((sum, body) => sum + body.length, 0);
    assert.ok(bytes > 0 && bytes < 2 ** 20, `${bytes} bytes were read to show the end`);
    assert.ok((await view.log.locator('.aiarts-LogRow').count()) <= 200);
    await photograph(page, 'log-gigabyte-end');
    await view.log.focus();
    const back = Date.now();
    await page.keyboard.press('Control+Home');
    await view.logShows('step 000000');
    t.diagnostic(`1 GB: the first line after ${Date.now() - back} ms`);
  }));

test('names, logs, variables, arguments and events with markup stay text', () =>
  withLab('markup', async (lab, page) => {
    const script = await lab.write('work/train.py', `print(${JSON.stringify(HOSTILE)})\nraise ValueError(${JSON.stringify(HOSTILE)})\n`);
    const job = await lab.ask('POST', 'jobs', { name: HOSTILE.slice(0, 60), script, env: { HOSTILE }, args: [HOSTILE] });
    await reaches(lab, job.id, 'failed');
    // What a platform says of a job comes from elsewhere: a made-up event stands for it.
    const event = { t: new Date().toISOString(), type: 'Warning', reason: HOSTILE, message: HOSTILE, object: HOSTILE };
    await page.route(`**/aiarts/jobs/${job.id}/events?*`, route => route.fulfill({ json: [event] }));
    const jobs = new JobsPage(page);
    await jobs.tab.click();
    await jobs.row('<img').waitFor();
    const view = new JobPage(page, HOSTILE.slice(0, 60));
    await view.open(job.id);
    await view.says(HOSTILE);
    await view.tab('Logs');
    await view.logShows(HOSTILE);
    await view.tab('Environment and ranks');
    await view.region.getByRole('row', { name: `HOSTILE ${HOSTILE}` }).waitFor();
    await view.tab('Events');
    await view.region.getByRole('cell', { name: HOSTILE }).first().waitFor();
    assert.equal(await page.locator('img[src="x"]').count(), 0);
    assert.equal(await page.evaluate(() => window.aiartsHurt), undefined);
  }));

test('a job deleted by somebody else, a server that goes and comes back: the open page says so, and lives on', () =>
  withLab('job-elsewhere', async (lab, page) => {
    const script = await lab.write('work/train.py', 'import time\nprint("here", flush=True)\ntime.sleep(600)\n');
    const [kept, gone] = await Promise.all(['kept', 'gone'].map(name => lab.ask('POST', 'jobs', { name, script })));
    await reaches(lab, kept.id, 'running');
    const other = new JobPage(page, 'gone');
    await other.open(gone.id);
    await other.says(script); // known before it is deleted
    await lab.ask('DELETE', `jobs/${gone.id}`);
    await other.says('This job was deleted. What is shown here is what was known of it.');
    await other.says(script);
    assert.equal(await other.region.getByRole('button', { name: 'Stop' }).count(), 0);

    const view = new JobPage(page, 'kept');
    await view.open(kept.id);
    await lab.down();
    await view.says('Stale since');
    await photograph(page, 'job-server-away');
    await lab.up();
    await view.region.getByText('Stale since').waitFor({ state: 'detached' });
    await lab.ask('POST', `jobs/${kept.id}/stop`);
    await view.region.getByText('stopped', { exact: true }).first().waitFor();
  }));

test('a login that ended is said in the sidebar and on the page, with the way back', () =>
  withLab('login-ended', async (lab, page) => {
    const script = await lab.write('work/train.py', 'print("done")');
    const job = await lab.ask('POST', 'jobs', { name: 'kept', script });
    await reaches(lab, job.id, 'succeeded');
    const jobs = new JobsPage(page);
    await jobs.tab.click();
    await jobs.row('kept').click(); // a click opens the page
    const view = new JobPage(page, 'kept');
    await view.region.waitFor();
    await lab.keepsLayout(`aiarts-job:${job.id}`);

    // JupyterLab, too, says that it is away, in a window over everything.
    const close = page.getByRole('dialog').getByRole('button', { name: 'Close' });
    await page.addLocatorHandler(close, () => close.click());
    await lab.down();
    lab.token = 'another';
    await page.context().clearCookies();
    await lab.up();
    await jobs.says('Your login has ended');
    await view.says('Your login has ended');
    await jobs.rowSays('kept', 'succeeded');
    await photograph(page, 'login-ended-said');
    await view.region.getByRole('button', { name: 'Reload the page' }).click();
    await page.getByText('Token authentication is enabled').waitFor();
    await page.goto(lab.page);
    await view.region.waitFor();
    await view.region.getByText('Your login has ended').waitFor({ state: 'detached' });
  }));
