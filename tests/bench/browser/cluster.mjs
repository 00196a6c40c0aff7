/**
 * The cluster's page with many nodes: `node cluster.mjs NODES ROUNDS`. From the data to the picture, and while scrolling.
 * No server here has so many nodes, so the route's answer is made up; all else is real.
 */
import { emptyPage, load, measuring, newPage } from './page.mjs';
import { scroll } from './scrolling.mjs';
import { tasksDuring } from './tasks.mjs';

const [nodes, rounds] = process.argv.slice(2).map(Number);

/** Boards of eight cards, some of them held, by id or not, by jobs of several users. */
function answer() {
  const held = index => (index * 7) % 9;
  const holding = index => ({
    owner: `user${index % 13}`,
    job: `job${String(index % 50).padStart(7, 'a')}`,
    namespace: null,
    pod: null,
    cards: held(index),
    ids: index % 5 ? [...Array(held(index)).keys()] : null
  });
  const node = (_, index) => ({
    cluster: 'lab',
    name: `npu-${String(index).padStart(4, '0')}`,
    ready: index % 97 !== 3,
    device: 'huawei_npu_arm64',
    cards: 8,
    free: 8 - held(index),
    held_by: held(index) ? [holding(index)] : [],
    problems: index % 97 === 3 ? ['not-ready'] : [],
    unhealthy: 0,
    missing: 0,
    cpu: 192,
    free_cpu: 192 - held(index) * 20,
    memory_gb: 768,
    free_memory_gb: null
  });
  const clusters = [{ name: 'lab', at: '2026-11-16T00:00:00Z', fits: null, unknown: [], stale_since: null }];
  return { nodes: Array.from({ length: nodes }, node), fits: null, clusters, stuck: [] };
}

/** Runs in the page before anything else: the time at which the body of the answer had been received. */
function receiving() {
  const { text } = Response.prototype;
  Response.prototype.text = async function () {
    const said = await text.call(this);
    if (/aiarts\/cluster(\?|$)/.test(this.url)) {
      window.aiarts.received ??= window.aiarts.now();
    }
    return said;
  };
}

async function round(lab, browser, json) {
  const page = await newPage(browser);
  await page.addInitScript(receiving);
  await page.route(/aiarts\/cluster(\?|$)/, route => route.fulfill({ json }));
  await load(page, lab);
  let taken;
  const opening = await tasksDuring(page, async () => {
    taken = await page.evaluate(async () => {
      const before = window.aiarts.now();
      void window.jupyterapp.commands.execute('jupyter-aiarts:open-cluster');
      const shown = await window.aiarts.shown(() => document.querySelector('[role=listbox] [role=option]'));
      return { painted: shown - window.aiarts.received, opened: shown - before };
    });
  });
  const most = await page.locator('[role=listbox] [role=option]').count();
  const scrolling = await tasksDuring(page, () => scroll(page, '[role=listbox]'));
  await page.close();

  const empty = await emptyPage(browser, { height: 40_000 });
  const control = await tasksDuring(empty, () => scroll(empty, '#hole'));
  await empty.close();
  return { ...taken, most, opening, scrolling, control };
}

await measuring({}, async (lab, browser) => {
  const json = answer();
  const found = [];
  for (let number = 0; number <= rounds; number += 1) {
    found.push(await round(lab, browser, json));
  }
  return found.slice(1);
});
