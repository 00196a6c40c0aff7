/**
 * JupyterLab's command palette, by the keys.
 */

/** Open it: a page that is still loading has no shortcuts yet, and the launcher takes the focus when it comes. */
export async function openPalette(page) {
  await page.locator('.jp-LauncherCard').first().waitFor({ state: 'attached' });
  const input = page.locator('.lm-CommandPalette-input:focus');
  for (let tries = 0; tries < 15 && (await input.count()) === 0; tries++) {
    await page.keyboard.press('Control+Shift+c');
    await input.waitFor({ timeout: 2000 }).catch(() => null);
  }
}

/** Choose the command with these words. */
export async function command(page, words) {
  await openPalette(page);
  await page.keyboard.type(words);
  await page.locator('.lm-CommandPalette-item.lm-mod-active', { hasText: words }).waitFor();
  await page.keyboard.press('Enter');
}
