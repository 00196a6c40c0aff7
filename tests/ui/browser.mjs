/**
 * Debian's Chromium with a fresh profile. CHROMIUM names another one.
 */
import { access, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { chromium } from 'playwright-core';

const EXECUTABLE = process.env.CHROMIUM || '/usr/bin/chromium';
const ARTIFACTS = fileURLToPath(new URL('artifacts/', import.meta.url));
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync'
];

export class Browser {
  static async start() {
    await access(EXECUTABLE).catch(() => {
      throw new Error(`no browser at ${EXECUTABLE}: apt-get install chromium, or set CHROMIUM to one`);
    });
    const profile = await mkdtemp(join(tmpdir(), 'aiarts-chromium-'));
    const context = await chromium.launchPersistentContext(profile, {
      executablePath: EXECUTABLE,
      headless: true,
      args: FLAGS,
      viewport: { width: 1280, height: 800 }
    });
    context.setDefaultTimeout(30_000);
    return new Browser(context, profile);
  }

  constructor(context, profile) {
    Object.assign(this, { context, profile });
  }

  async close() {
    await this.context.close();
    await rm(this.profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/** Keep a picture of the page as artifacts/NAME.png. */
export async function photograph(page, name) {
  await mkdir(ARTIFACTS, { recursive: true });
  await page.screenshot({ path: join(ARTIFACTS, `${name}.png`) });
}
