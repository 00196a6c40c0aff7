import { nullTranslator } from '@jupyterlab/translation';

import { errorText, Foreign, Late, readError, Unanswered } from '../errors';
import { JobManager, retryDelay } from '../manager';
import { FakeServer, type FakeSocket, job } from './fakes';

let server: FakeServer;
let manager: JobManager;

const socket = (): FakeSocket => server.socket;
const ids = (): string[] => manager.jobs.map(({ id }) => id);

beforeEach(() => {
  jest.useFakeTimers({ now: new Date('2026-11-16T08:00:00Z') });
  server = new FakeServer();
  manager = new JobManager(server);
});

afterEach(() => {
  manager.dispose();
  jest.useRealTimers();
});

test('while JupyterLab starts nothing is connected, and nothing ever for who is gone by then', async () => {
  let restored = (): void => undefined;
  const ready = new Promise<void>(resolve => (restored = resolve));
  const other = new FakeServer();
  const [stays, goes] = [new JobManager(other, ready), new JobManager(other, ready)];
  window.dispatchEvent(new Event('focus'));
  expect([other.sockets.length, stays.link.state]).toEqual([0, 'connecting']);
  goes.dispose();
  restored();
  await ready;
  expect(other.sockets.length).toBe(1);
  other.socket.say({ type: 'snapshot', jobs: [job('a')] });
  expect(stays.jobs.length).toBe(1);
  stays.dispose();
});

test('a snapshot replaces everything, newest first', () => {
  socket().say({ type: 'snapshot', jobs: [job('gone')] });
  socket().say({
    type: 'snapshot',
    jobs: [job('old', { created: '2026-11-15T00:00:00.000000Z' }), job('new')]
  });
  expect(ids()).toEqual(['new', 'old']);
  expect(manager.link).toEqual({ state: 'live' });
});

test('changes add and replace jobs, removals take them away', () => {
  socket().say({ type: 'snapshot', jobs: [job('a'), job('b')] });
  socket().say({ type: 'jobs', jobs: [job('a', { phase: 'failed' }), job('c')] });
  socket().say({ type: 'removed', ids: ['b', 'never-seen'] });
  expect(ids()).toEqual(['a', 'c']);
  expect(manager.jobs[0]?.phase).toBe('failed');
});

test('an answer that is older than what the stream has told meanwhile changes nothing', async () => {
  socket().say({ type: 'snapshot', jobs: [job('a')] });
  const late = (said: object): Promise<unknown> => {
    server.answers = async () => {
      await Promise.resolve(); // the question is on its way
      socket().say(said);
      return job('a', { phase: 'starting' });
    };
    return manager.act('a', 'rerun');
  };
  await late({ type: 'jobs', jobs: [job('a', { phase: 'succeeded' })] });
  expect(manager.job('a')?.phase).toBe('succeeded');
  await late({ type: 'snapshot', jobs: [job('a', { phase: 'failed' })] });
  expect(manager.job('a')?.phase).toBe('failed');
  await late({ type: 'jobs', jobs: [job('b')] });
  expect(manager.job('a')?.phase).toBe('starting');
  await late({ type: 'removed', ids: ['a'] });
  expect(manager.job('a')).toBeUndefined();
});

test('every change is told once, other messages are not', () => {
  const told = jest.fn();
  manager.changed.connect(told);
  socket().say({ type: 'jobs', jobs: [job('a')] });
  socket().say({ type: 'usage', usage: { t: '2026-11-16T08:00:00Z', host: {}, devices: [], problems: [] } });
  socket().say({ type: 'queues' });
  expect(told).toHaveBeenCalledTimes(1);
});

test('health is asked with every snapshot, and a health message may change it', async () => {
  server.said = { version: '1.0.0', clusters: [{ name: 'lab', owner: null, staleSince: '2026-11-16T01:02:03Z' }] };
  socket().say({ type: 'snapshot', jobs: [] });
  await jest.advanceTimersByTimeAsync(0);
  expect(manager.serverVersion).toBe('1.0.0');
  expect(manager.away.map(cluster => cluster.name)).toEqual(['lab']);
  socket().say({ type: 'health', clusters: [{ name: 'lab', stale_since: null }] });
  expect(manager.away).toEqual([]);
  expect(manager.serverVersion).toBe('1.0.0');
  socket().say({ type: 'health', versions: { server: '9.9.9' } });
  expect(manager.serverVersion).toBe('9.9.9');
});

test('health that could not be had is asked for again, and an answer is no newer than what was told meanwhile', async () => {
  const warn = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
  const lab = { name: 'lab', owner: null, staleSince: '2026-11-16T01:02:03Z' };
  server.refusal = readError(500, '');
  socket().say({ type: 'snapshot', jobs: [] });
  await jest.advanceTimersByTimeAsync(3000);
  expect(manager.clusters).toEqual([]);
  server.refusal = null;
  server.said = { version: '1.0.0', clusters: [lab] };
  await jest.advanceTimersByTimeAsync(4000);
  expect(manager.away.map(({ name }) => name)).toEqual(['lab']);
  socket().say({ type: 'snapshot', jobs: [] });
  socket().say({ type: 'health', clusters: [{ name: 'lab', stale_since: null }] });
  await jest.advanceTimersByTimeAsync(0);
  expect(manager.away).toEqual([]);
  warn.mockRestore();
});

test('a login that is asked for no more, because nobody answers any more, is not said to be', async () => {
  socket().say({ type: 'snapshot', jobs: [] });
  await jest.advanceTimersByTimeAsync(0);
  server.refusal = new Foreign('a page on which to log in');
  socket().hangUp();
  await jest.advanceTimersByTimeAsync(500);
  expect(manager.link).toMatchObject({ state: 'stale', needsLogin: true });
  server.refusal = new Unanswered('nobody');
  socket().hangUp();
  await jest.advanceTimersByTimeAsync(0);
  expect(manager.link).toEqual({ state: 'stale', since: new Date('2026-11-16T08:00:00Z') });
});

test('a lost connection keeps the jobs and says since when they are stale', () => {
  socket().say({ type: 'snapshot', jobs: [job('a')] });
  socket().hangUp();
  expect(ids()).toEqual(['a']);
  expect(manager.link).toEqual({ state: 'stale', since: new Date('2026-11-16T08:00:00Z') });
});

test('the first moment of staleness stays while retries fail, and ends with the next snapshot', () => {
  socket().say({ type: 'snapshot', jobs: [] });
  socket().hangUp();
  jest.advanceTimersByTime(500);
  socket().hangUp();
  expect(manager.link).toEqual({ state: 'stale', since: new Date('2026-11-16T08:00:00Z') });
  jest.advanceTimersByTime(1000);
  socket().say({ type: 'snapshot', jobs: [] });
  expect(manager.link).toEqual({ state: 'live' });
});

test('a server that never answered is absent, not stale', () => {
  expect(manager.link).toEqual({ state: 'connecting' });
  socket().hangUp();
  expect(manager.link).toEqual({ state: 'absent' });
});

test('retries wait 0.5, 1, 2 … 30 seconds', () => {
  expect([0, 1, 2, 3, 4, 5, 6, 50].map(retryDelay)).toEqual([500, 1000, 2000, 4000, 8000, 16000, 30000, 30000]);
  socket().hangUp();
  jest.advanceTimersByTime(499);
  expect(server.sockets).toHaveLength(1);
  jest.advanceTimersByTime(1);
  expect(server.sockets).toHaveLength(2);
  socket().hangUp();
  jest.advanceTimersByTime(999);
  expect(server.sockets).toHaveLength(2);
});

test('a snapshot makes the next retry quick again', () => {
  socket().hangUp();
  jest.advanceTimersByTime(500);
  socket().say({ type: 'snapshot', jobs: [] });
  socket().hangUp();
  jest.advanceTimersByTime(500);
  expect(server.sockets).toHaveLength(3);
});

test.each([
  ['not JSON', '{'],
  ['no list', { type: 'jobs' }],
  ['an unknown phase', { type: 'jobs', jobs: [{ ...job('a'), phase: 'dreaming' }] }],
  ['a job that is text', { type: 'snapshot', jobs: ['a'] }]
])('%s ends the connection, so that a whole snapshot follows', (_, message) => {
  const warn = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
  socket().say(message);
  expect(socket().closed).toBe(true);
  expect(warn).toHaveBeenCalledTimes(1);
  warn.mockRestore();
});

test('after dispose nothing reconnects', () => {
  manager.dispose();
  jest.advanceTimersByTime(60_000);
  expect(server.sockets).toHaveLength(1);
  expect(socket().closed).toBe(true);
});

describe('what is asked of the server', () => {
  const whole = (id: string, phase: string): object => ({ ...job(id), phase, spec: {} });

  test('a move shows its outcome at once, before the stream says it', async () => {
    socket().say({ type: 'snapshot', jobs: [job('a')] });
    server.answers = () => whole('a', 'stopped');
    await manager.act('a', 'stop');
    expect(server.asked).toEqual([{ path: 'jobs/a/stop', request: { method: 'POST', body: {} } }]);
    expect(manager.job('a')?.phase).toBe('stopped');
  });

  test('a deleted job goes at once, and what stayed of it is told', async () => {
    socket().say({ type: 'snapshot', jobs: [job('a')] });
    server.answers = () => '3 files stayed';
    expect(await manager.remove('a')).toBe('3 files stayed');
    expect(ids()).toEqual([]);
  });

  test('a refused move changes nothing and is told to whoever asked', async () => {
    socket().say({ type: 'snapshot', jobs: [job('a')] });
    server.answers = () => {
      throw readError(409, '{"code":"wrong-phase","message":"It has ended.","hint":"Run it again."}');
    };
    await expect(manager.act('a', 'pause')).rejects.toMatchObject({ code: 'wrong-phase', hint: 'Run it again.' });
    expect(manager.job('a')?.phase).toBe('running');
  });

  test('a fix that was only tried out changes nothing', async () => {
    socket().say({ type: 'snapshot', jobs: [job('a')] });
    server.answers = () => ({ done: false, job: whole('a', 'queued') });
    await manager.fix('a', { fix: 'x-1', dry_run: true });
    expect(manager.job('a')?.phase).toBe('running');
    server.answers = () => ({ done: true, job: whole('a', 'queued') });
    await manager.fix('a', { fix: 'x-1' });
    expect(manager.job('a')?.phase).toBe('queued');
  });

  test('this machine is watched only while somebody looks, and asked about again before the server forgets', async () => {
    const usage = { t: '2026-11-16T08:00:00Z', host: { cpu: 1, cpus: 2 }, devices: [], problems: [] };
    server.answers = () => usage;
    const told = jest.fn();
    manager.usageChanged.connect(told);
    socket().say({ type: 'usage', usage });
    expect(manager.usage).toBeNull();
    const [one, two] = [manager.watchUsage(), manager.watchUsage()];
    await jest.advanceTimersByTimeAsync(50_000);
    expect(server.asked.map(({ path }) => path)).toEqual(['usage', 'usage']);
    socket().say({ type: 'usage', usage: { ...usage, host: { cpu: 2 } } });
    expect(manager.usage?.host.cpu).toBe(2);
    expect(told).toHaveBeenCalledTimes(3);
    one.dispose();
    two.dispose();
    await jest.advanceTimersByTimeAsync(100_000);
    expect(server.asked).toHaveLength(2);
    expect(manager.usage).toBeNull();
  });

  test('times of jobs are compared with the clock of the server, not with the one of the page', () => {
    server.clockOffset = 3_600_000;
    expect(new Date(manager.now()).toISOString()).toBe('2026-11-16T09:00:00.000Z');
  });
});

test('an answer that is no JSON is told by its status, and a login that ended by what to do', () => {
  const trans = nullTranslator.load('jupyter_aiarts');
  expect(errorText(readError(502, '<html>Bad gateway</html>'), trans)).toBe(
    'HTTP 502 Try again; if this stays, the log of the server says more.'
  );
  expect(errorText(readError(403, 'null'), trans)).toContain('log in again');
  const told = readError(400, '{"code":"invalid-spec","message":"No.","hint":"Change it.","problems":[{"key":"cpu","message":"too many"}]}');
  expect(errorText(told, trans)).toBe('No. cpu: too many Change it.');
  expect(errorText(new Unanswered(''), trans)).toContain('does not answer');
});

test.each([
  [readError(403, '{"code": "not-allowed", "message": "Forbidden"}'), true],
  [new Foreign('a page on which to log in'), true],
  [new Unanswered('nobody'), undefined],
  [readError(500, ''), undefined]
])('a stream that is lost for want of a login says so: %s', async (refusal, needsLogin) => {
  socket().say({ type: 'snapshot', jobs: [job('a')] });
  await jest.advanceTimersByTimeAsync(0);
  server.refusal = refusal;
  socket().hangUp();
  await jest.advanceTimersByTimeAsync(0);
  const { link } = manager;
  expect([link.state, 'needsLogin' in link ? link.needsLogin : undefined]).toEqual(['stale', needsLogin]);
  server.refusal = null;
  await jest.advanceTimersByTimeAsync(1000);
  socket().say({ type: 'snapshot', jobs: [] });
  expect(manager.link).toEqual({ state: 'live' });
});

test('after a sleep there is a new connection, and the old picture stays until it speaks; awake there is none', () => {
  socket().say({ type: 'snapshot', jobs: [job('a')] });
  const before = socket();
  jest.advanceTimersByTime(60_000);
  window.dispatchEvent(new Event('focus'));
  expect(server.sockets).toHaveLength(1);
  jest.setSystemTime(Date.now() + 3_600_000); // no timer of ours ran
  window.dispatchEvent(new Event('focus'));
  expect(server.sockets).toHaveLength(2);
  expect([before.closed, manager.link.state, ids()]).toEqual([true, 'live', ['a']]);
  before.say({ type: 'removed', ids: ['a'] });
  expect(ids()).toEqual(['a']);
  socket().say({ type: 'snapshot', jobs: [job('b')] });
  expect(ids()).toEqual(['b']);
});

test('a tab that slept while nobody looked at it is renewed when somebody does', () => {
  socket().say({ type: 'snapshot', jobs: [job('a')] });
  const watch = manager.watchUsage();
  const hidden = jest.spyOn(document, 'hidden', 'get').mockReturnValue(true);
  jest.setSystemTime(Date.now() + 3_600_000);
  window.dispatchEvent(new Event('online'));
  jest.advanceTimersByTime(45_000); // the question for what the machine does is no sign of life
  expect(server.sockets).toHaveLength(1);
  hidden.mockReturnValue(false);
  document.dispatchEvent(new Event('visibilitychange'));
  expect(server.sockets).toHaveLength(2);
  hidden.mockRestore();
  watch.dispose();
});

test('a job that is deleted and still stops stays in the list until the stream says that it is gone', async () => {
  socket().say({ type: 'snapshot', jobs: [job('a'), job('b')] });
  server.answers = () => {
    socket().say({ type: 'jobs', jobs: [job('a', { moves: [] })] });
    return '';
  };
  await manager.remove('a');
  expect(ids()).toEqual(['a', 'b']);
  socket().say({ type: 'removed', ids: ['a'] });
  expect(ids()).toEqual(['b']);
  server.answers = () => '';
  await manager.remove('b');
  expect(ids()).toEqual([]);
});

test('whoever sees the list when the machine wakes has it anew without touching anything', () => {
  socket().say({ type: 'snapshot', jobs: [job('a')] });
  const watch = manager.watchUsage();
  jest.advanceTimersByTime(170_000);
  expect(server.sockets).toHaveLength(1);
  jest.setSystemTime(Date.now() + 3_600_000);
  jest.advanceTimersByTime(45_000);
  expect(server.sockets).toHaveLength(2);
  watch.dispose();
});

test('a server that hangs: an unanswered question makes a new connection, and one that stays silent makes the list stale', async () => {
  socket().say({ type: 'snapshot', jobs: [job('a')] });
  const before = socket();
  server.answers = () => Promise.reject(new Late('no answer in time'));
  await expect(manager.ask('usage')).rejects.toThrow('no answer in time');
  await expect(manager.ask('usage')).rejects.toThrow('no answer in time');
  expect([server.sockets.length, before.closed, manager.link.state]).toEqual([2, true, 'live']);
  jest.advanceTimersByTime(14_000);
  expect(manager.link.state).toBe('live');
  jest.advanceTimersByTime(2_000);
  expect([manager.link.state, ids(), server.sockets.length]).toEqual(['stale', ['a'], 2]);
  jest.advanceTimersByTime(60_000);
  expect([manager.link.state, server.sockets.length]).toEqual(['stale', 3]);
  socket().say({ type: 'snapshot', jobs: [job('b')] });
  expect([manager.link.state, ids()]).toEqual(['live', ['b']]);
  jest.advanceTimersByTime(60_000);
  expect(manager.link.state).toBe('live');
});

test('a refusal is an answer, and while a connection is on its way no other is opened', async () => {
  socket().say({ type: 'snapshot', jobs: [] });
  server.answers = () => Promise.reject(readError(500, ''));
  await expect(manager.ask('usage')).rejects.toThrow();
  expect(server.sockets).toHaveLength(1);
  socket().hangUp();
  server.answers = () => Promise.reject(new Unanswered('nobody'));
  await expect(manager.ask('usage')).rejects.toThrow();
  expect(server.sockets).toHaveLength(1);
});

test('a server that never says a word is absent after a while', () => {
  jest.advanceTimersByTime(16_000);
  expect(manager.link).toEqual({ state: 'absent' });
});

test('every refusal has a next step, also one that is not of our making', () => {
  const trans = nullTranslator.load('jupyter_aiarts');
  expect(errorText(readError(502, '<html>'), trans)).toMatch(/Try again/);
  expect(errorText(readError(418, '<html>'), trans)).toMatch(/Reload the page/);
  expect(errorText(new Late(), trans)).toMatch(/may still happen/);
});
