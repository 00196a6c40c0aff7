/**
 * What the measurements of the page share: a JupyterLab whose application is within reach, and clocks inside the page.
 */
import { Browser } from '../../ui/browser.mjs';
import { Lab } from '../../ui/lab.mjs';

export const pause = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));

export function median(values) {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Runs in the page before anything else: when it was restored, and when something that is waited for was painted. */
function clocks() {
  const painted = () =>
    new Promise(resolve => requestAnimationFrame(() => setTimeout(() => resolve(performance.timeOrigin + performance.now()))));
  window.aiarts = {
    now: () => performance.timeOrigin + performance.now(),
    painted,
    /** The moment when the page first showed it: after the drawing that follows the change which made it true. */
    shown: isThere =>
      new Promise(resolve => {
        const look = () => isThere() && (observer.disconnect(), resolve(painted()));
        const observer = new MutationObserver(look);
        observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
        look();
      })
  };
  let app;
  Object.defineProperty(window, 'jupyterapp', {
    configurable: true,
    get: () => app,
    set: value => {
      app = value;
      void value.restored.then(() => (window.aiarts.restored = performance.now()));
    }
  });
}

/** Start a JupyterLab and a browser, measure, print what was found as one line of JSON, and leave nothing behind. */
export async function measuring(options, measure) {
  const lab = await Lab.start({ ...options, args: ['--expose-app-in-browser', ...(options.args ?? [])] });
  const browser = await Browser.start();
  try {
    const found = await measure(lab, browser);
    console.log(JSON.stringify(found));
  } finally {
    await lab.endJobs();
    await browser.close();
    await lab.remove();
  }
}

/** A page with the clocks in it; what breaks in our part of it ends the measurement. */
export async function newPage(browser) {
  const page = await browser.context.newPage();
  page.on('pageerror', error => {
    if (error.stack?.includes('/extensions/jupyter-aiarts/')) {
      throw error;
    }
  });
  await page.addInitScript(clocks);
  return page;
}

/** Load JupyterLab and wait until it is restored and has nothing left to do. */
export async function load(page, lab) {
  await page.goto(`${lab.page}&reset`);
  await page.waitForFunction(() => window.aiarts.restored);
  await page.evaluate(() => new Promise(resolve => requestIdleCallback(resolve)));
}

export const openSidebar = page => page.getByRole('tab', { name: 'AIArts jobs' }).click();

/**
 * A page with nothing of ours, scrolled as ours is, or computing for some milliseconds with every frame: what the
 * machine and whatever else runs on it do to tasks.
 */
export async function emptyPage(browser, { height = 0, work = 0 }) {
  const page = await newPage(browser);
  const html = `<div id="hole" style="height: 600px; overflow: auto"><div style="height: ${height}px"></div></div>`;
  await page.goto(`data:text/html,${encodeURIComponent(html)}`);
  await page.evaluate(milliseconds => {
    const compute = () => {
      const end = performance.now() + milliseconds;
      while (performance.now() < end) {
        /* as code does */
      }
      requestAnimationFrame(compute);
    };
    if (milliseconds) {
      compute();
    }
  }, work);
  return page;
}
