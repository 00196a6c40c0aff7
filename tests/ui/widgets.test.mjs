import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';

import { Browser, photograph } from './browser.mjs';
import { addCards, NPU } from './cards.mjs';
import { Lab } from './lab.mjs';
import { notebook, NotebookPage } from './notebook-page.mjs';

/** What other front ends run, such as VS Code: here asked for by name, as our own type comes first in ours. */
const CELLS = [
  '%load_ext jupyter_aiarts\nimport jupyter_aiarts as aiarts',
  'machine = %aiarts usage\nmachine.panel()',
  `job = aiarts.submit("train.py", name="训练 <i>one</i>", device="${NPU}", devices=2)\njob.panel()`,
  ...new Array(25).fill('pass')
];
const TRAINING = `
import pathlib, time
step, here = 0, pathlib.Path(__file__)
while here.exists():
    time.sleep(0.25)
    step += 1
    print(f"step {step} <b>bold</b>", flush=True)
`;

let browser;

before(async () => {
  browser = await Browser.start();
});

after(() => browser?.close());

for (const app of ['lab', 'notebook']) {
  test(`widgets draw cards, a log and buttons, and rest when nobody sees them (${app})`, async () => {
    const lab = await Lab.start({ app, prepare: addCards, devices: { [NPU]: 2 } });
    const page = await browser.context.newPage();
    const book = new NotebookPage(page);
    const errors = [];
    page.on('console', said => said.type() === 'error' && /widget|aiarts/i.test(said.text()) && errors.push(said.text()));
    const heard = []; // what pages say about being seen, on the kernel's socket
    page.on('websocket', socket =>
      socket.on('framesent', ({ payload }) => {
        const [said] = /\{"seen": ?(true|false)\}/.exec(String(payload)) ?? [];
        said && heard.push(said.includes('true'));
      })
    );
    try {
      await lab.write('work/train.py', TRAINING);
      await lab.write('work/book.ipynb', notebook(...CELLS));
      await book.open(lab, 'book.ipynb');
      await book.runAll();
      const [usage, job] = [page.locator('.aiarts-View').first(), page.locator('.aiarts-View').nth(1)];
      await page.locator('.aiarts-View').nth(1).waitFor({ state: 'attached', timeout: 60_000 });
      await usage.scrollIntoViewIfNeeded(); // whoever runs all cells is at the last one
      await usage.getByText('71 %').first().waitFor({ timeout: 60_000 });
      assert.equal(await usage.getByRole('meter', { name: 'npu 1 910B4' }).getAttribute('aria-valuenow'), '71');
      // Nobody runs anything: the kernel looks again because somebody sees it.
      const form = await readFile(`${lab.home}/tools/said`, 'utf8');
      await lab.write('tools/said', form.replace('| 71 ', '| 17 '));
      await usage.getByText('17 %').first().waitFor();
      const line = await usage.locator('.aiarts-View-line path').first().getAttribute('d');
      assert.match(line, /^M\d+ [\d.]+(L\d+ [\d.]+)+/);

      await job.scrollIntoViewIfNeeded();
      await job.getByText('训练 <i>one</i>').waitFor();
      await job.getByText(/^step \d+ <b>bold<\/b>$/).first().waitFor();
      await job.getByRole('log', { name: 'End of the log' }).waitFor();
      await job.getByRole('meter', { name: /^Card 1/ }).waitFor({ timeout: 60_000 }); // the launcher looks after some seconds, and then every half minute
      await photograph(page, `widgets-${app}`);
      assert.equal(heard.at(-1), true);

      await page.locator('.jp-Notebook .jp-Cell').last().scrollIntoViewIfNeeded();
      while (heard.filter(one => !one).length < 2) {
        await page.waitForTimeout(100); // both have said that nobody sees them
      }
      await job.scrollIntoViewIfNeeded();
      const panel = page.locator('.jp-OutputArea-output', { hasText: '训练' }).last();
      await panel.getByRole('button', { name: 'Stop' }).click();
      await panel.getByRole('button', { name: 'Really stop?' }).click();
      await job.getByText('stopped', { exact: true }).waitFor();
      await panel.getByRole('button', { name: 'Run again' }).waitFor();
      assert.deepEqual(errors, []);
    } finally {
      await photograph(page, `widgets-end-${app}`);
      await page.close();
      await lab.endJobs(); // they would outlive the server
      await lab.remove();
    }
  });
}
