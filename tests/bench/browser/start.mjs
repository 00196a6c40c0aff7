/**
 * JupyterLab's start with the extension and without: `node start.mjs ROUNDS`; and what of ours is loaded when.
 */
import { mkdir, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Lab } from '../../ui/lab.mjs';
import { load, measuring, newPage, openSidebar } from './page.mjs';

const rounds = Number(process.argv[2]);
const INSTALLED = fileURLToPath(new URL('../../../.venv/share/jupyter/labextensions', import.meta.url));
const BUILT = fileURLToPath(new URL('../../../jupyter_aiarts/labextension', import.meta.url));
const OURS = /\/extensions\/jupyter-aiarts\//;

/** Milliseconds that the page's main thread computed: what else the machine does falls out of it. */
async function computed(client) {
  const { metrics } = await client.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'TaskDuration').value * 1000;
}

/** Milliseconds from the navigation until JupyterLab says that it is restored, and the names of our files by then. */
async function start(browser, lab, { isOpened = false } = {}) {
  const page = await newPage(browser);
  const files = new Set();
  page.on('request', request => OURS.test(request.url()) && files.add(new URL(request.url()).pathname.split('/').pop()));
  const client = await page.context().newCDPSession(page);
  await client.send('Performance.enable', { timeDomain: 'threadTicks' });
  await load(page, lab);
  const restored = await page.evaluate(() => window.aiarts.restored);
  const cpu = await computed(client);
  const atStart = [...files];
  if (isOpened) {
    await openSidebar(page);
    await page.getByRole('region', { name: 'AIArts jobs' }).getByText('No jobs yet').waitFor();
  }
  const bySidebar = [...files];
  await page.close();
  return { restored, cpu, atStart, bySidebar };
}

/** A folder with links to what JupyterLab has of labextensions, with ours or without; `disabled` ones are loaded too. */
async function labextensions(lab, isOurs) {
  const folder = join(lab.home, 'labextensions');
  await mkdir(folder);
  for (const name of await readdir(INSTALLED)) {
    if (isOurs || name !== 'jupyter-aiarts') {
      await symlink(name === 'jupyter-aiarts' ? BUILT : join(INSTALLED, name), join(folder, name));
    }
  }
  lab.args = [...lab.args, `--LabApp.labextensions_path=${folder}`];
}

await measuring({ prepare: lab => labextensions(lab, true) }, async (lab, browser) => {
  const bare = await Lab.start({
    extension: false,
    args: ['--expose-app-in-browser'],
    prepare: one => labextensions(one, false)
  });
  try {
    const found = { ours: [], peer: [] };
    for (let number = 0; number <= rounds; number += 1) {
      const order = number % 2 ? ['ours', 'peer'] : ['peer', 'ours'];
      for (const which of order) {
        const { restored, cpu, atStart } = await start(browser, which === 'ours' ? lab : bare);
        found[which].push({ restored, cpu });
        if (atStart.length > 0 !== (which === 'ours')) {
          throw new Error(`${which}: of our files, these were loaded: ${atStart}`);
        }
      }
    }
    const { atStart, bySidebar } = await start(browser, lab, { isOpened: true });
    return { ours: found.ours.slice(1), peer: found.peer.slice(1), atStart, bySidebar };
  } finally {
    await bare.remove();
  }
});
