import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { Browser, photograph } from './browser.mjs';
import { FormPage } from './form-page.mjs';
import { JobPage } from './job-page.mjs';
import { command } from './palette.mjs';
import { WAITING, withSidebar } from './with-sidebar.mjs';

let browser;

before(async () => {
  browser = await Browser.start();
});

after(() => browser?.close());

/** Press Tab until the focus is there; a place that Tab does not reach in a hundred steps is not reached. */
async function tabTo(page, target, key = 'Tab') {
  for (let step = 0; step < 100; step++) {
    if (await target.evaluate(node => node === document.activeElement)) {
      return;
    }
    await page.keyboard.press(key);
  }
  throw new Error(`${target} cannot be reached with ${key}`);
}

test('without a mouse: submit, hear that it runs, open, search the log, stop', () =>
  withSidebar(browser, { name: 'keys-stopped' }, async (lab, jobs) => {
    const { page, panel } = jobs;
    await lab.write('work/train.py', WAITING);
    await jobs.says('No jobs yet');
    await command(page, 'New AIArts job');
    const form = new FormPage(page);
    await form.isJudged('Name a start file');
    await page.waitForFunction(() => document.activeElement?.closest('[data-key=script]'));
    await page.keyboard.type('train.py');
    await tabTo(page, form.field('Name'));
    await page.keyboard.type('by keys');
    await form.isJudged('It would start at once');
    await tabTo(page, form.form.getByRole('button', { name: 'Submit', exact: true }));
    await page.keyboard.press('Enter');
    await panel.getByRole('status').getByText('by keys is running.').waitFor();
    await page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'treegrid');

    await page.keyboard.press('ArrowDown');
    await photograph(page, 'keys-list');
    await page.keyboard.press('Enter');
    const view = new JobPage(page, 'by keys');
    await view.region.waitFor();
    await tabTo(page, view.region.getByRole('tab', { name: 'Overview' }));
    await page.keyboard.press('ArrowRight');
    await view.logShows('training');
    await tabTo(page, view.log);
    await page.keyboard.press('/');
    await page.keyboard.type('train');
    await page.keyboard.press('Enter');
    await view.says('match 1 of 1');
    await photograph(page, 'keys-log');

    await command(page, 'Show AIArts jobs');
    await page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'treegrid');
    await page.keyboard.press('Shift+F10');
    const stop = page.getByRole('menuitem', { name: 'Stop', exact: true });
    await stop.waitFor();
    for (let step = 0; step < 20 && !(await stop.evaluate(node => node.classList.contains('lm-mod-active'))); step++) {
      await page.keyboard.press('ArrowDown');
    }
    await page.keyboard.press('Enter');
    const yes = page.getByRole('dialog').getByRole('button', { name: 'Stop', exact: true });
    await yes.waitFor();
    await tabTo(page, yes);
    await page.keyboard.press('Enter');
    await jobs.isTold('Stopped “by keys”'); // first: this goes after some seconds, and the other stays
    await panel.getByRole('status').getByText('by keys is stopped.').waitFor();
    await page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'treegrid');
  }));

test('who wants less motion gets none from us', () =>
  withSidebar(browser, { name: 'calm', prepare: page => page.emulateMedia({ reducedMotion: 'reduce' }) }, async (lab, jobs) => {
    const { page } = jobs;
    await jobs.panel.getByRole('meter', { name: 'Memory' }).waitFor({ state: 'attached' });
    await jobs.panel.getByRole('button', { name: 'New job…' }).first().click();
    await new FormPage(page).isJudged('Name a start file');
    const moving = () =>
      page.evaluate(() =>
        [...document.querySelectorAll('[class*="aiarts-"], [class*="aiarts-"] *')]
          .filter(node => {
            const { animationName, animationDuration, transitionDuration, scrollBehavior } = getComputedStyle(node);
            const isMoved = animationName !== 'none' && parseFloat(animationDuration) > 0;
            return isMoved || parseFloat(transitionDuration) > 0 || scrollBehavior === 'smooth';
          })
          .filter(node => node.closest('[class*="aiarts-"]') && !node.closest('.lm-TabBar, .jp-Toolbar'))
          .map(node => node.outerHTML.slice(0, 160))
      );
    assert.deepEqual(await moving(), []);
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    assert.notDeepEqual(await moving(), [], 'the bars move for whoever does not mind');
  }));
