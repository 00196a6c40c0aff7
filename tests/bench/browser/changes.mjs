/**
 * From a change in the server until it is in the sidebar: `node changes.mjs CHANGES [STATE]`.
 */
import { load, measuring, newPage, openSidebar, pause } from './page.mjs';

const [changes, state] = [Number(process.argv[2]), process.argv[3]];

/**
 * Ask for something and tell when the job was among those that run or wait, or was not any more: what has ended may be
 * far below in a long list. In milliseconds since the moment before asking.
 */
async function visible(page, name, isOpen, ask) {
  const shown = page.evaluate(
    ([named, wanted]) =>
      window.aiarts.shown(
        () =>
          wanted ===
          [...document.querySelectorAll('[role=treegrid] [role=row][aria-level="2"]')].some(
            row => row.textContent.includes(named) && /queued|starting|running/.test(row.textContent)
          )
      ),
    [name, isOpen]
  );
  await page.evaluate(() => new Promise(resolve => requestIdleCallback(resolve)));
  const before = performance.timeOrigin + performance.now();
  const answer = await ask();
  const answered = performance.timeOrigin + performance.now();
  return { answer, answered: answered - before, shown: (await shown) - before, at: await shown };
}

await measuring({ args: state ? [`--AiartsApp.state_dir=${state}`] : [] }, async (lab, browser) => {
  const script = await lab.write('work/train.py', 'import time\ntime.sleep(600)\n');
  const page = await newPage(browser);
  await load(page, lab);
  await openSidebar(page);
  await page.getByRole('region', { name: 'AIArts jobs' }).waitFor();
  await pause(1000);
  const found = [];
  for (let number = 0; number <= changes; number += 1) {
    const name = `change ${number}.`;
    const made = await visible(page, name, true, () => lab.ask('POST', 'jobs', { name, script }));
    const { id } = made.answer;
    while ((await lab.ask('GET', `jobs/${id}`)).phase !== 'running') {
      await pause(50);
    }
    const stopped = await visible(page, name, false, () => lab.ask('POST', `jobs/${id}/stop`));
    const job = await lab.ask('GET', `jobs/${id}`);
    found.push({
      submitted: made.shown,
      submitAnswered: made.answered,
      stopped: stopped.at - Date.parse(job.ended),
      stopAsked: stopped.shown
    });
    await lab.ask('DELETE', `jobs/${id}`);
  }
  return found.slice(1);
});
