/**
 * The log view: `node log.mjs ROUNDS SECONDS GIGABYTES`. Following 5,000 lines a second, and opening a very long log.
 */
import { emptyPage, load, measuring, median, newPage, pause } from './page.mjs';
import { tasksDuring } from './tasks.mjs';

const [rounds, seconds, gigabytes] = process.argv.slice(2).map(Number);

/** Lines of 80 bytes, 50 of them a hundred times a second; each begins with the time at which it was printed. */
const RUNNING = `
import sys, time
begun = time.time()
number = 0
while True:
    now = time.time()
    while number < (now - begun) * 5000:
        print(f"{now:.3f} {number:09d}".ljust(79, "."))
        number += 1
    sys.stdout.flush()
    time.sleep(0.01)
`;

/** A log of as many bytes, and at its end a line that no other is like. */
const LONG = `
import sys
lines = int(float(sys.argv[1]) * 1e9 / 80)
for first in range(0, lines, 10_000):
    sys.stdout.write("".join(f"{number:09d}".ljust(79, ".") + "\\n" for number in range(first, first + 10_000)))
print("the last line")
`;

async function submit(lab, name, source, spec = {}) {
  const script = await lab.write(`work/${name}/train.py`, source);
  return lab.ask('POST', 'jobs', { name, script, ...spec });
}

async function ended(lab, id) {
  while ((await lab.ask('GET', `jobs/${id}`)).ended === null) {
    await pause(200);
  }
}

const open = (page, id) =>
  page.evaluate(job => void window.jupyterapp.commands.execute('jupyter-aiarts:open-job', { id: job, tab: 'logs' }), id);

/** How old the newest line in sight is, in milliseconds. */
const age = page =>
  page.evaluate(() => {
    const lines = document.querySelectorAll('[role=log] .aiarts-LogRow-text');
    const printed = Number(lines[lines.length - 1].textContent.split(' ')[0]) * 1000;
    return window.aiarts.now() - printed;
  });

/** How long it takes until a click on a button of the page is drawn, in milliseconds. */
async function clicked(page, button) {
  const waited = page.evaluate(
    () =>
      new Promise(resolve =>
        addEventListener(
          'pointerdown',
          event => window.aiarts.painted().then(at => resolve(at - (performance.timeOrigin + event.timeStamp))),
          { once: true, capture: true }
        )
      )
  );
  await button.click();
  return waited;
}

async function following(lab, browser) {
  const job = await submit(lab, 'running', RUNNING);
  const page = await newPage(browser);
  await load(page, lab);
  await open(page, job.id);
  await page.locator('[role=log] .aiarts-LogRow-text').first().waitFor();
  await pause(2000);
  const [ages, clicks] = [[], []];
  const wrap = page.getByText('Wrap', { exact: true }).first();
  const tasks = await tasksDuring(page, async () => {
    for (let second = 0; second < seconds; second += 1) {
      await pause(900);
      ages.push(await age(page));
      clicks.push(await clicked(page, wrap));
    }
  });
  await page.close();
  await lab.endJobs();
  const empty = await emptyPage(browser, { work: 10 });
  const control = await tasksDuring(empty, () => pause(seconds * 1000));
  await empty.close();
  return { tasks, control, age: median(ages), click: median(clicks), slowestClick: Math.max(...clicks) };
}

/** Milliseconds from the command until the last line was painted. */
async function opening(lab, browser, job) {
  const page = await newPage(browser);
  await load(page, lab);
  const taken = await page.evaluate(async id => {
    const isThere = () =>
      [...document.querySelectorAll('[role=log] .aiarts-LogRow-text')].some(row => row.textContent === 'the last line');
    const before = window.aiarts.now();
    void window.jupyterapp.commands.execute('jupyter-aiarts:open-job', { id, tab: 'logs' });
    return (await window.aiarts.shown(isThere)) - before;
  }, job.id);
  await page.close();
  return taken;
}

await measuring({}, async (lab, browser) => {
  const long = await submit(lab, 'long', LONG, { args: [String(gigabytes)], env: { PYTHONUNBUFFERED: '' } });
  const short = await submit(lab, 'short', LONG, { args: ['0.0000008'] });
  await Promise.all([ended(lab, long.id), ended(lab, short.id)]);
  const opened = { long: [], short: [] };
  for (let number = 0; number <= rounds; number += 1) {
    opened.long.push(await opening(lab, browser, long));
    opened.short.push(await opening(lab, browser, short));
  }
  const followed = [];
  for (let number = 0; number <= rounds; number += 1) {
    followed.push(await following(lab, browser));
  }
  return { long: opened.long.slice(1), short: opened.short.slice(1), followed: followed.slice(1) };
});
