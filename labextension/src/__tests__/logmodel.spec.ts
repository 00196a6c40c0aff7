import { Broken, Foreign } from '../errors';
import { LogModel, PAGE } from '../logview/model';
import { MOST_ROWS } from '../logview/rows';
import { MOST_FOUND } from '../logview/search';
import { JobLog, textLines } from '../logview/source';
import { Tail } from '../logview/tail';
import { repairKernel } from '../repairing';
import { FakeLog, logLine } from './fakelog';

const lines = (from: number, to: number): ReturnType<typeof logLine>[] =>
  Array.from({ length: to - from }, (_, index) => logLine(from + index));
const settle = (): Promise<void> => new Promise(resolve => setTimeout(resolve, 5));

/** jsdom has no streams: one that is read as these pieces. */
function bodyOf(...pieces: Uint8Array[]): ReadableStream<Uint8Array> {
  const reads = pieces.map(value => ({ done: false, value }));
  const read = (): Promise<unknown> => Promise.resolve(reads.shift() ?? { done: true });
  return { getReader: () => ({ read, cancel: () => Promise.resolve() }) } as unknown as ReadableStream<Uint8Array>;
}

let model: LogModel;

/** A model on this log, seen, with its first page. */
async function open(log: FakeLog): Promise<LogModel> {
  model = new LogModel(log, () => Promise.resolve());
  model.show(true);
  await settle();
  return model;
}

const last = (): string | undefined => model.rows[model.rows.length - 1]?.text;

afterEach(() => {
  model.dispose();
  jest.useRealTimers();
});

test('a long log opens at its end with one page', async () => {
  const log = new FakeLog(lines(0, 100_000));
  await open(log);
  expect([model.rows.length, last()]).toEqual([PAGE, 'line 99999']);
  expect(log.asked).toHaveLength(1);
});

test('it follows, and counts what comes while its reader is elsewhere', async () => {
  const log = new FakeLog(lines(0, 10));
  await open(log);
  log.print(logLine(10));
  await settle();
  expect([last(), model.unseen]).toEqual(['line 10', 0]);
  model.follow(false);
  log.print(...lines(11, 14));
  await settle();
  expect([last(), model.unseen]).toEqual(['line 13', 3]);
  model.follow(true);
  expect(model.unseen).toBe(0);
});

test('a flood is bounded while it is followed, and let go while it is not', async () => {
  const log = new FakeLog(lines(0, 10));
  await open(log);
  log.print(...lines(10, 40_000));
  await settle();
  expect([model.rows.length, last(), model.atStart]).toEqual([MOST_ROWS, 'line 39999', false]);
  model.follow(false);
  const first = model.rows[15_000]!.id;
  log.print(...lines(40_000, 80_000));
  await settle();
  expect([model.unseenMore, model.atEnd]).toEqual([true, false]);
  expect(model.indexOf(first)).toBeGreaterThanOrEqual(0);
  await model.toEnd();
  expect([last(), model.following]).toEqual(['line 79999', true]);
});

test('older lines that come when the first row is another one by then leave no hole', async () => {
  const log = new FakeLog(lines(0, 30_000));
  await open(log);
  const page = log.page.bind(log);
  log.page = async query => {
    const found = await page(query);
    if (query.before !== undefined) {
      log.print(...lines(log.lines.length, log.lines.length + MOST_ROWS)); // followed, so the oldest rows go
      await settle();
    }
    return found;
  };
  await model.older();
  const numbers = model.rows.map(row => Number(row.text.slice(5)));
  expect(numbers).toEqual(numbers.map((_, place) => numbers[0]! + place));
});

test('a question that was superseded starts no stream, and says nothing about where the rows are', async () => {
  const log = new FakeLog(lines(0, 10));
  await open(log);
  const page = log.page.bind(log);
  const answers: Array<() => void> = [];
  log.page = query => new Promise(resolve => answers.push(() => resolve(page(query))));
  const streams = log.streams;
  const first = model.choose({ fold: true });
  const second = model.choose({ rank: 0 });
  answers[0]!();
  await first;
  await settle();
  expect(log.streams).toBe(streams);
  answers[1]!();
  await second;
  await settle();
  expect([log.streams, model.rows.length]).toEqual([streams + 1, 10]);
});

test('paging back to the beginning and forward again misses and repeats nothing', async () => {
  const log = new FakeLog(lines(0, 30_000));
  await open(log);
  model.follow(false);
  while (!model.atStart) {
    await model.older();
  }
  expect([model.rows[0]?.text, model.rows.length, model.atEnd]).toEqual(['line 0', MOST_ROWS, false]);
  expect(model.rows.map(row => row.text)).toEqual(lines(0, MOST_ROWS).map(line => line.text));
  while (!model.atEnd) {
    await model.newer();
  }
  expect(last()).toBe('line 29999');
  log.print(logLine(30_000));
  await settle();
  expect(last()).toBe('line 30000');
});

test('a broken connection goes on where it was', async () => {
  const log = new FakeLog(lines(0, 3));
  await open(log);
  log.cut();
  await settle();
  expect(String(model.failure)).toContain('connection lost');
  log.print(logLine(3));
  await new Promise(resolve => setTimeout(resolve, 600));
  expect([model.rows.map(row => row.text), model.failure]).toEqual([['line 0', 'line 1', 'line 2', 'line 3'], null]);
});

test('a connection is held only while the log is seen', async () => {
  const log = new FakeLog(lines(0, 3));
  await open(log);
  expect(log.streams).toBe(1);
  model.show(false);
  log.print(logLine(3));
  await settle();
  expect(last()).toBe('line 2');
  model.show(true);
  await settle();
  expect([last(), log.streams]).toEqual(['line 3', 2]);
});

test('the middle of a log is no place to follow from: shown again, its rows are where they were, none twice', async () => {
  const log = new FakeLog(lines(0, 5000));
  await open(log);
  await model.toStart();
  const streams = log.streams;
  model.show(false);
  model.show(true);
  await settle();
  expect([log.streams, model.rows.length, model.unseen, model.atEnd]).toEqual([streams, PAGE, 0, false]);
  while (!model.atEnd) {
    await model.newer();
  }
  log.print(logLine(5000));
  await settle();
  expect(model.rows.map(row => row.text)).toEqual(lines(0, 5001).map(line => line.text));
});

test('a view that scrolls on the way to the end keeps nobody from following', async () => {
  const log = new FakeLog(lines(0, 5000));
  await open(log);
  await model.toStart();
  const going = model.toEnd();
  model.scrolled(true); // the last of the old rows
  await going;
  expect([model.following, last()]).toEqual([true, 'line 4999']);
  log.print(logLine(5000));
  await settle();
  expect([last(), model.unseen]).toEqual(['line 5000', 0]);
  model.scrolled(false);
  expect(model.following).toBe(false);
});

test('an end that could not be had is offered again, and nothing is followed from elsewhere', async () => {
  const log = new FakeLog(lines(0, 5000));
  await open(log);
  await model.toStart();
  const streams = log.streams;
  log.broken = new Error('503');
  await model.toEnd();
  expect([model.following, log.streams]).toEqual([false, streams]);
  log.broken = null;
  await model.toEnd();
  expect([model.following, model.failure, last()]).toEqual([true, null, 'line 4999']);
});

test('a tab that was asleep goes to the end instead of reading an hour of lines', async () => {
  const log = new FakeLog(lines(0, 3));
  let now = 0;
  let nights = 1;
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => now);
  model = new LogModel(log, async () => void (now += nights-- > 0 ? 3_600_000 : 16));
  model.show(true);
  await settle();
  const asked = log.asked.length;
  log.print(...lines(3, 5000));
  await settle();
  expect(log.asked.length).toBeGreaterThan(asked);
  expect(last()).toBe('line 4999');
  clock.mockRestore();
});

test('the end of a run is said', async () => {
  const log = new FakeLog(lines(0, 3));
  await open(log);
  log.end();
  await settle();
  expect([model.ended, model.rows.length]).toEqual([true, 3]);
});

test('what the platform says while nothing was printed is no line', async () => {
  const log = new FakeLog();
  log.silence = 'Not started yet: waits for 2 cards';
  await open(log);
  expect([model.silence, model.rows.length]).toEqual(['Not started yet: waits for 2 cards', 0]);
  log.print(logLine(0));
  await settle();
  expect([model.silence, model.rows.length]).toEqual([null, 1]);
});

test('a search counts in the whole log and goes from the newest match to older ones', async () => {
  const log = new FakeLog(lines(0, 50_000));
  await open(log);
  await model.search.look('7777');
  expect([model.search.found.length, model.search.isMore]).toEqual([5, false]);
  expect(model.search.step(-1)?.text).toBe('line 47777');
  const older = model.search.step(-1)!;
  await model.toLine(older);
  expect(model.rows[model.indexOf(model.target!.id)]?.text).toBe(older.text);
  expect([model.following, model.search.isFound(older.seq)]).toEqual([false, true]);
});

test('more matches than are counted are said to be more, and exactly so many are not', async () => {
  const log = new FakeLog(lines(0, MOST_FOUND));
  await open(log);
  await model.look('line');
  expect([model.search.found.length, model.search.isMore]).toEqual([MOST_FOUND, false]);
  model.search.step(-1);
  log.print(logLine(MOST_FOUND));
  await settle();
  await model.look('line');
  expect([model.search.found.length, model.search.isMore, model.search.at]).toEqual([MOST_FOUND, true, MOST_FOUND - 2]);
  await model.look('line ');
  expect([model.search.found.length, model.search.isMore]).toEqual([MOST_FOUND, true]);
});

test('the same search again looks in what was printed since, and its reader stays where they were', async () => {
  const log = new FakeLog(lines(0, 20));
  await open(log);
  await model.look('7$');
  const at = model.search.step(-1);
  const asked = log.asked.length;
  await model.look('7$');
  expect([at?.text, log.asked.length]).toEqual(['line 17', asked]); // nothing came, so nothing is asked
  log.print(...lines(20, 40));
  await settle();
  await model.look('7$');
  expect(model.search.found.map(line => line.text)).toEqual([7, 17, 27, 37].map(n => `line ${n}`));
  expect([model.search.at, model.search.step(1)?.text, log.asked.length]).toEqual([1, 'line 27', asked + 1]);
  expect(model.search.isFound(log.lines[37]!.seq)).toBe(true);
});

test('a search that found nothing finds what comes later, also while its reader is elsewhere; an ended log is left alone', async () => {
  const log = new FakeLog(lines(0, 5000));
  await open(log);
  await model.look('line 50\\d\\d$');
  expect(model.search.found).toHaveLength(0);
  await model.toStart();
  log.print(logLine(5000));
  await model.look('line 50\\d\\d$');
  expect(model.search.found).toHaveLength(1);
  log.print(logLine(5001));
  await model.toEnd();
  await model.look('line 50\\d\\d$');
  expect(model.search.found).toHaveLength(2);
  log.end();
  await settle();
  await model.look('line 50\\d\\d$');
  const asked = log.asked.length;
  await model.look('line 50\\d\\d$');
  expect([model.ended, log.asked.length]).toEqual([true, asked]);
});

test('only a pattern that means itself is marked in the page', async () => {
  await open(new FakeLog());
  await model.search.look('(a+)+$');
  expect(model.search.literal).toBeNull();
  await model.search.look('loss');
  expect(model.search.literal).toBe('loss');
});

test('the first error is found wherever it is; none is said', async () => {
  const log = new FakeLog(lines(0, 5000));
  log.lines[17] = logLine(17, { text: 'ValueError: shapes do not match' });
  log.lines[4000] = logLine(4000, { text: 'RuntimeError: later' });
  await open(log);
  expect(await model.toFirstError()).toBe(true);
  expect(model.rows[model.indexOf(model.target!.id)]?.text).toContain('ValueError');
  log.lines = lines(0, 10);
  expect(await model.toFirstError()).toBe(false);
});

test('a server that fails is said, with what was there', async () => {
  const log = new FakeLog(lines(0, 3));
  await open(log);
  log.broken = new Error('500 Internal');
  await model.older();
  expect([String(model.failure), model.rows.length]).toEqual(['Error: 500 Internal', 3]);
});

test('a log that is quiet says that its server answers again as soon as it does', async () => {
  const log = new FakeLog();
  log.broken = new Error('nobody there');
  await open(log);
  expect(String(model.failure)).toContain('nobody there');
  log.broken = null;
  await new Promise(resolve => setTimeout(resolve, 600));
  expect([model.failure, model.rows.length]).toEqual([null, 0]);
});

test('a server that accepts and closes at once is asked later each time', async () => {
  jest.useFakeTimers();
  let asked = 0;
  const breaks = async function* (): AsyncGenerator<ReadonlyArray<never>> {
    asked += 1;
    yield await Promise.resolve([]);
    throw new Error('broke off');
  };
  const idle = { answered: jest.fn(), came: jest.fn(), slept: () => false, broke: jest.fn(), ended: jest.fn() };
  const tail = new Tail(breaks, () => Promise.resolve(), idle);
  tail.start();
  await jest.advanceTimersByTimeAsync(10_000);
  tail.stop();
  expect(asked).toBeLessThan(8);
  expect(idle.ended).not.toHaveBeenCalled();
});

test('a stream that a proxy ends because the log is quiet is no news, and the next follows at once, however often', async () => {
  jest.useFakeTimers();
  let asked = 0;
  const idle = { answered: jest.fn(), came: jest.fn(), slept: () => false, broke: jest.fn(), ended: jest.fn() };
  const quiet = async function* (): AsyncGenerator<ReadonlyArray<never>> {
    asked += 1;
    yield [];
    await new Promise(resolve => setTimeout(resolve, 60_000));
    throw new Broken('network error');
  };
  const tail = new Tail(quiet, () => Promise.resolve(), idle);
  tail.start();
  await jest.advanceTimersByTimeAsync(20 * 60_500);
  tail.stop();
  expect([asked, idle.broke.mock.calls.length]).toEqual([21, 0]);
});

test('a stream on which nothing comes, not even a sign of life, is given up; one with signs is not', async () => {
  jest.useFakeTimers();
  let feed: (bytes: string) => void = () => undefined;
  const cancel = jest.fn(() => Promise.resolve());
  const read = (): Promise<unknown> =>
    new Promise(resolve => (feed = text => resolve({ done: false, value: new TextEncoder().encode(text) })));
  const body = { getReader: () => ({ read, cancel }) } as unknown as ReadableStream<Uint8Array>;
  const asker = { fetch: () => Promise.resolve({ body } as Response), read: jest.fn(), url: () => '' };
  const followed = new JobLog(asker, 'abcdefghij').follow({}, new AbortController().signal);
  await followed.next();
  const failed = jest.fn();
  void followed.next().catch(failed);
  for (let sign = 0; sign < 6; sign++) {
    await jest.advanceTimersByTimeAsync(20_000);
    feed('\n');
  }
  await jest.advanceTimersByTimeAsync(59_000);
  expect(failed).not.toHaveBeenCalled();
  await jest.advanceTimersByTimeAsync(2_000);
  expect(failed).toHaveBeenCalledWith(expect.any(Broken));
  expect(cancel).toHaveBeenCalled();
});

test('a server that takes the question for a stream and says nothing is told of, and asked anew', async () => {
  jest.useFakeTimers();
  const signals: AbortSignal[] = [];
  const fetch = (_: string, { signal }: { signal?: AbortSignal } = {}): Promise<Response> => {
    signals.push(signal!);
    return new Promise(() => undefined);
  };
  const log = new JobLog({ fetch, read: jest.fn(), url: () => '' }, 'abcdefghij');
  const idle = { answered: jest.fn(), came: jest.fn(), slept: () => false, broke: jest.fn(), ended: jest.fn() };
  const tail = new Tail(signal => log.follow({}, signal), () => Promise.resolve(), idle);
  tail.start();
  await jest.advanceTimersByTimeAsync(61_000);
  expect(idle.broke).toHaveBeenCalledWith(expect.any(Broken));
  expect(signals.map(signal => signal.aborted)).toEqual([true, false]);
  tail.stop();
  expect(signals[1]!.aborted).toBe(true);
});

test('a page on which to log in is no log, whichever way the log is asked for', async () => {
  const page = '<!doctype html>\n<title>Log in</title>';
  const asker = {
    fetch: () => Promise.resolve({ body: bodyOf(new TextEncoder().encode(page)) } as Response),
    read: () => Promise.resolve({ headers: { get: () => null }, text: page }),
    url: () => ''
  };
  const log = new JobLog(asker, 'abcdefghij');
  await expect(log.page({})).rejects.toBeInstanceOf(Foreign);
  const followed = log.follow({}, new AbortController().signal);
  await followed.next();
  await expect(followed.next()).rejects.toBeInstanceOf(Foreign);
  await expect(repairKernel(asker, 'torch', new AbortController().signal, () => undefined)).rejects.toBeInstanceOf(Foreign);
});

test('a streamed body is cut into its lines wherever its pieces end', async () => {
  const bytes = new TextEncoder().encode('{"a":"训"}\n{"b":2}\n\n{"c":3}');
  const body = bodyOf(bytes.slice(0, 7), bytes.slice(7, 12), bytes.slice(12));
  const found: string[] = [];
  for await (const some of textLines(body, 1)) {
    found.push(...some);
  }
  expect(found).toEqual(['{"a":"训"}', '{"b":2}', '{"c":3}']);
});
