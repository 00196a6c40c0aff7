/**
 * A sidebar with many jobs: `node list.mjs STATE ROUNDS`. From the data to the picture, and the tasks while scrolling.
 */
import { emptyPage, load, measuring, newPage, openSidebar } from './page.mjs';
import { scroll } from './scrolling.mjs';
import { tasksDuring } from './tasks.mjs';

const [state, rounds] = [process.argv[2], Number(process.argv[3])];
const ROW = '[role=treegrid] [role=row][aria-level="2"]';

/** Runs in the page before anything else: the stream's first message waits until the sidebar is there to show it. */
function hold() {
  const held = [];
  window.WebSocket = class extends WebSocket {
    constructor(url, protocols) {
      super(url, protocols);
      if (/aiarts\/stream/.test(url)) {
        this.addEventListener('message', event => {
          if (event.isTrusted && !window.aiarts.released) {
            event.stopImmediatePropagation();
            held.push([this, event.data]);
          }
        });
      }
    }
  };
  window.aiartsRelease = async isThere => {
    while (held.length === 0) {
      await new Promise(resolve => setTimeout(resolve, 20));
    }
    window.aiarts.released = true;
    const shown = window.aiarts.shown(() => document.querySelector(isThere));
    const before = window.aiarts.now();
    held.splice(0).forEach(([socket, data]) => socket.dispatchEvent(new MessageEvent('message', { data })));
    return { handled: window.aiarts.now() - before, painted: (await shown) - before };
  };
}

async function round(lab, browser) {
  const page = await newPage(browser);
  await page.addInitScript(hold);
  await load(page, lab);
  await openSidebar(page);
  await page.getByRole('region', { name: 'AIArts jobs' }).waitFor();
  let first;
  const opening = await tasksDuring(page, async () => {
    first = await page.evaluate(selector => window.aiartsRelease(selector), ROW);
  });
  await page.evaluate(() => {
    window.aiartsMost = 0;
    const list = document.querySelector('[role=treegrid]');
    const count = () => (window.aiartsMost = Math.max(window.aiartsMost, list.querySelectorAll('[role=row]').length));
    new MutationObserver(count).observe(list, { subtree: true, childList: true });
    count();
  });
  await page.evaluate(() => new Promise(resolve => requestIdleCallback(resolve)));
  const scrolling = await tasksDuring(page, () => scroll(page, '[role=treegrid]'));
  const most = await page.evaluate(() => window.aiartsMost);
  await page.close();

  const empty = await emptyPage(browser, { height: 500_000 });
  const control = await tasksDuring(empty, () => scroll(empty, '#hole'));
  await empty.close();
  return { ...first, opening, scrolling, control, most };
}

await measuring({ args: [`--AiartsApp.state_dir=${state}`] }, async (lab, browser) => {
  const found = [];
  for (let number = 0; number <= rounds; number += 1) {
    found.push(await round(lab, browser));
  }
  return found.slice(1);
});
