/**
 * The tasks of a page's main thread, from Chromium's own trace: how long each took, and how much of that it computed.
 */

const CATEGORIES = ['toplevel', 'blink.user_timing', '__metadata'];
const TASKS = new Set(['ThreadControllerImpl::RunTask', 'RunTask']);

/**
 * Run the steps and tell of the tasks meanwhile; in milliseconds.
 * @returns {Promise<{longest: number, cpu: number, over: number[], count: number, busy: number}>} the longest task, the
 * most that one computed, every one over 50 ms, how many there were, and the share of the time that they took
 */
export async function tasksDuring(page, steps) {
  const client = await page.context().newCDPSession(page);
  const events = [];
  client.on('Tracing.dataCollected', ({ value }) => events.push(...value));
  await client.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: CATEGORIES, excludedCategories: ['*'] }
  });
  const mark = name => page.evaluate(word => void performance.mark(word), name);
  await mark('aiarts-begin');
  await steps();
  await mark('aiarts-end');
  const complete = new Promise(resolve => client.once('Tracing.tracingComplete', resolve));
  await client.send('Tracing.end');
  await complete;
  await client.detach();
  return summary(events);
}

/** What lies between the two marks, on the thread that set them. */
function summary(events) {
  const marked = name => events.find(event => event.name === name);
  const [begin, end] = [marked('aiarts-begin'), marked('aiarts-end')];
  const tasks = events.filter(
    event =>
      TASKS.has(event.name) &&
      event.pid === begin.pid &&
      event.tid === begin.tid &&
      event.ts > begin.ts && // so the evaluation that set the mark is none of them
      event.ts + event.dur < end.ts
  );
  const walls = tasks.map(event => event.dur / 1000);
  return {
    longest: Math.max(0, ...walls),
    cpu: Math.max(0, ...tasks.map(event => (event.tdur ?? 0) / 1000)),
    over: walls.filter(wall => wall > 50),
    count: tasks.length,
    busy: walls.reduce((sum, wall) => sum + wall, 0) / ((end.ts - begin.ts) / 1000)
  };
}
