/**
 * What axe finds in our own part of the page. JupyterLab's frame around it is not ours to mend.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

const SOURCE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Rules about a whole page, which a part of one cannot keep or break. */
const OF_PAGES = ['region', 'page-has-heading-one', 'landmark-one-main', 'bypass', 'document-title', 'html-has-lang'];

/**
 * Sentences about what is serious or critical in `root`, an element of the page; empty when nothing is. What moves is
 * waited for: a colour half faded in is nobody's colour.
 */
export async function serious(root) {
  const page = root.page();
  if (!(await page.evaluate(() => 'axe' in window))) {
    await page.evaluate(await readFile(SOURCE, 'utf8'));
  }
  return root.evaluate(async (node, off) => {
    await Promise.all(document.getAnimations().map(one => (one.effect?.getTiming().iterations === Infinity ? null : one.finished.catch(() => null)))); // what is taken away moves no more
    const rules = Object.fromEntries(off.map(id => [id, { enabled: false }]));
    const { violations } = await window.axe.run(node, { rules, resultTypes: ['violations'] });
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) => nodes.map(one => `${id}: ${one.failureSummary?.replace(/\s+/g, ' ')} ${one.html.slice(0, 200)}`));
  }, OF_PAGES);
}
