const TURNS = 60; // of the wheel

/** Turn the wheel as a hand does, slowly and in leaps, down and up again. */
export async function scroll(page, selector) {
  const box = await page.locator(selector).boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  for (let turn = 0; turn < TURNS; turn += 1) {
    const step = (turn % 3 === 2 ? 8000 : 240) * (turn < (TURNS * 2) / 3 ? 1 : -1);
    await page.mouse.wheel(0, step);
    await page.evaluate(() => window.aiarts.painted());
  }
}
