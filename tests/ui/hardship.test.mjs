/**
 * What a page has to live with: a server that answers nonsense or not at all, a wrong clock, a night's sleep.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { Browser, photograph } from './browser.mjs';
import { FormPage } from './form-page.mjs';
import { WAITING, withSidebar } from './with-sidebar.mjs';

let browser;

before(async () => {
  browser = await Browser.start();
});

after(() => browser?.close());

const SUBMITS = /aiarts\/jobs\?(?!.*dry_run)/;
const TRIES = /aiarts\/jobs\?.*dry_run=1/;
const STOPS = /aiarts\/jobs\/\w+\/stop/;

test('a server that answers 500, a proxy page or nothing: the form and the sidebar say what to do, and it works again', () =>
  withSidebar(browser, { name: 'hardship-submitted' }, async (lab, jobs) => {
    const { page } = jobs;
    const script = await lab.write('work/train.py', WAITING);
    await lab.ask('POST', 'jobs', { name: 'first', script });
    await jobs.rowSays('first', 'running');
    await jobs.panel.getByRole('button', { name: 'New job…' }).first().click();
    const form = new FormPage(page);

    await page.route(TRIES, route => route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad <b>gateway</b></h1>' }));
    await form.fill({ 'Start file': 'train.py' });
    await form.isJudged('HTTP 502 Try again; if this stays, the log of the server says more.');
    await photograph(page, 'hardship-form');
    await page.unroute(TRIES);
    await form.fill({ Name: 'second' });
    await form.isJudged('It would');

    await page.route(SUBMITS, route => route.abort());
    await form.submit();
    await form.form.getByRole('alert').getByText('The server does not answer. Check that it runs').waitFor();
    await page.unroute(SUBMITS);
    await page.route(SUBMITS, route =>
      route.fulfill({ status: 500, json: { code: 'internal', message: 'Something went wrong in the server', hint: "The server's log has the details." } })
    );
    await form.submit();
    await form.form.getByRole('alert').getByText("The server's log has the details.").waitFor();
    await page.unroute(SUBMITS);

    await page.route(STOPS, route => route.abort());
    await jobs.move('first', 'Stop', 'Stop');
    await jobs.isTold('The server does not answer');
    await page.unroute(STOPS);
    await jobs.move('first', 'Stop', 'Stop');
    await jobs.rowSays('first', 'stopped');

    await form.submit();
    await jobs.rowSays('second', 'running');
    assert.equal((await lab.ask('GET', 'jobs')).length, 2, 'one job for one form, however often it was sent');
  }));

test('an answer that never comes is given up after a minute, and the form can be used again', () =>
  withSidebar(browser, { name: 'hardship-late' }, async (lab, jobs) => {
    const { page } = jobs;
    await lab.write('work/train.py', WAITING);
    await jobs.panel.getByRole('button', { name: 'New job…' }).first().click();
    const form = new FormPage(page);
    await form.fill({ 'Start file': 'train.py' });
    await form.isJudged('It would start at once');
    await page.clock.install();
    await page.route(SUBMITS, () => null);
    const sent = page.waitForRequest(SUBMITS);
    await form.submit();
    await sent;
    await page.clock.fastForward('01:05');
    await form.form.getByRole('alert').getByText('What was asked may still happen').waitFor();
    assert.ok(await form.form.getByRole('button', { name: 'Submit', exact: true }).isEnabled());
  }));

test('a name of 63 Chinese characters is kept whole, one of 64 is told of beside its field', () =>
  withSidebar(browser, { name: 'hardship-name' }, async (lab, jobs) => {
    await lab.write('work/train.py', WAITING);
    await jobs.panel.getByRole('button', { name: 'New job…' }).first().click();
    const form = new FormPage(jobs.page);
    await form.fill({ 'Start file': 'train.py', Name: '训'.repeat(64) });
    await form.form.getByText('may have at most 63 characters, and it has 64').waitFor();
    await form.fill({ Name: `${'训'.repeat(62)}<` });
    await form.isJudged('It would start at once');
    await form.submit();
    await jobs.rowSays('训训', 'running');
    const [job] = await lab.ask('GET', 'jobs');
    assert.equal(job.name, `${'训'.repeat(62)}<`);
    const [row, panel] = [await jobs.row('训训').boundingBox(), await jobs.panel.boundingBox()];
    assert.ok(row.width <= panel.width, 'a long name does not make the list wider than the sidebar');
  }));

test('a server that hangs without a word: the list says that it is old, and is live again when the server is', () =>
  withSidebar(browser, { name: 'hardship-hung', prepare: page => page.clock.install() }, async (lab, jobs) => {
    const { page } = jobs;
    const script = await lab.write('work/train.py', WAITING);
    await lab.ask('POST', 'jobs', { name: 'train', script });
    await jobs.rowSays('train', 'running');
    lab.process.kill('SIGSTOP');
    try {
      await page.clock.runFor(50_000); // it is asked what the machine does
      await page.clock.runFor(65_000); // nobody has answered for a minute
      await page.clock.runFor(20_000); // nor on a new connection
      await jobs.says('Stale since');
      await jobs.rowSays('train', 'running');
    } finally {
      lab.process.kill('SIGCONT');
    }
    await jobs.panel.getByText('Stale since').waitFor({ state: 'detached' });
  }));

/** The page's clock is two hours ahead; its timers go on as they are. */
const AHEAD = () => {
  const now = Date.now;
  Date.now = () => now() + 7_200_000;
};

test('a wrong clock of the browser: times are told by the clock of the server', () =>
  withSidebar(browser, { name: 'hardship-clock', prepare: page => page.addInitScript(AHEAD) }, async (lab, jobs) => {
    const script = await lab.write('work/train.py', WAITING);
    await lab.ask('POST', 'jobs', { name: 'train', script });
    await jobs.rowSays('train', 'running');
    await jobs.row('train').getByText(/^0:\d\d$/).waitFor();
    assert.doesNotMatch(await jobs.row('train').innerText(), /2:0\d|2 h/);
  }));

test('after an hour of sleep, with a connection that died without a word, the list is as it is now', () => {
  let isDead = false;
  return withSidebar(
    browser,
    {
      name: 'hardship-awake',
      prepare: async page => {
        await page.clock.install();
        await page.routeWebSocket(/aiarts\/stream/, socket => {
          const server = socket.connectToServer();
          const isFirst = !isDead;
          server.onMessage(message => (isFirst && isDead ? undefined : socket.send(message)));
        });
      }
    },
    async (lab, jobs) => {
      const script = await lab.write('work/train.py', WAITING);
      await lab.ask('POST', 'jobs', { name: 'train', script });
      await jobs.rowSays('train', 'running');
      isDead = true;
      await lab.write('work/go', '');
      await lab.ask('POST', 'jobs', { name: 'while asleep', script });
      await jobs.page.clock.runFor(5000);
      await jobs.rowSays('train', 'running');
      assert.equal(await jobs.row('while asleep').count(), 0, 'nobody told the page');
      await jobs.page.clock.fastForward('01:00:00');
      await jobs.page.clock.runFor(20_000);
      await jobs.rowSays('while asleep', 'succeeded');
      await jobs.rowSays('train', 'succeeded');
    }
  );
});
