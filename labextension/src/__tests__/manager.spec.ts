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

test('every change is told once, other messages are not', () => {
  const told = jest.fn();
  manager.changed.connect(told);
  socket().say({ type: 'jobs', jobs: [job('a')] });
  socket().say({ type: 'usage', host: {} });
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
