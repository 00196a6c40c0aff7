import { nullTranslator } from '@jupyterlab/translation';

import { JobManager } from '../manager';
import type { INews } from '../news';
import { Newsroom } from '../newsroom';
import { FakeServer, job } from './fakes';

let server: FakeServer;
let manager: JobManager;
let newsroom: Newsroom;
let told: INews[];

const texts = (): string[] => told.map(news => news.text);
const later = (minutes: number): Promise<void> => jest.advanceTimersByTimeAsync(minutes * 60_000);

beforeEach(async () => {
  jest.useFakeTimers({ now: new Date('2026-11-16T01:02:03.456Z') });
  server = new FakeServer();
  server.said = {
    version: '1.0.0',
    clusters: [
      { name: 'local', owner: null, staleSince: null },
      { name: 'lab', owner: 'alice', staleSince: null }
    ]
  };
  manager = new JobManager(server);
  told = [];
  newsroom = new Newsroom(manager, nullTranslator.load('jupyter_aiarts'), news => told.push(news));
  server.socket.say({ type: 'snapshot', jobs: [job('old', { phase: 'failed' }), job('a'), job('b')] });
  await jest.advanceTimersByTimeAsync(0);
});

afterEach(() => {
  newsroom.dispose();
  manager.dispose();
  jest.useRealTimers();
});

test('what was there when the page opened is no news, whenever the server says whose it is', () => {
  expect(told).toEqual([]);
});

test('an end is told once, with the reason of a failure', () => {
  const explanation = { code: 'x', title: 'Out of memory' };
  server.socket.say({ type: 'jobs', jobs: [job('a', { phase: 'succeeded' })] });
  server.socket.say({ type: 'jobs', jobs: [job('b', { phase: 'failed', explanation })] });
  server.socket.say({ type: 'jobs', jobs: [job('b', { phase: 'failed', explanation })] });
  expect(told).toEqual([
    { kind: 'success', text: 'job a is done.' },
    { kind: 'error', text: 'job b failed: Out of memory' }
  ]);
});

test('a stop, a pause and somebody else are no news', () => {
  server.socket.say({
    type: 'jobs',
    jobs: [
      job('a', { phase: 'stopped' }),
      job('b', { phase: 'paused' }),
      job('c', { phase: 'failed', cluster: 'lab', owner: 'bob' }),
      job('d', { phase: 'failed', cluster: 'unheard of' })
    ]
  });
  expect(told).toEqual([]);
  server.socket.say({ type: 'jobs', jobs: [job('e', { phase: 'lost', cluster: 'lab' })] });
  expect(texts()).toEqual(['job e failed: lost']);
});

test('many ends at once are one sentence', () => {
  const jobs = ['c', 'd', 'e', 'f'].map(id => job(id, { phase: id === 'c' ? 'failed' : 'succeeded' }));
  server.socket.say({ type: 'jobs', jobs });
  expect(told).toEqual([{ kind: 'error', text: '4 jobs have ended, 1 of them failed.' }]);
});

test('a job that ended while the server was away is told of when it is back', async () => {
  server.socket.hangUp();
  await later(1);
  server.socket.say({ type: 'snapshot', jobs: [job('a', { phase: 'succeeded' }), job('b')] });
  expect(texts()).toEqual(['job a is done.']);
});

test('a job that waits for long is told of once, by the clock alone, and again when it is queued again', async () => {
  newsroom.wishes = { ends: true, waiting: 10, nodes: true };
  server.socket.say({ type: 'jobs', jobs: [job('q', { phase: 'queued', explanation: { code: 'x', title: 'No card is free' } })] });
  await later(9);
  expect(told).toEqual([]);
  await later(2);
  await later(60);
  expect(texts()).toEqual(['job q has been waiting for 10 minutes. No card is free']);
  server.socket.say({ type: 'jobs', jobs: [job('q', { phase: 'running' })] });
  server.socket.say({ type: 'jobs', jobs: [job('q', { phase: 'queued' })] });
  await later(9);
  expect(told).toHaveLength(1);
  await later(2);
  expect(texts()[1]).toBe('job q has been waiting for 10 minutes.');
});

test('an old job that is queued again waits since then, not since it was made', async () => {
  newsroom.wishes = { ends: true, waiting: 10, nodes: true };
  await later(4320);
  server.socket.say({ type: 'jobs', jobs: [job('old', { phase: 'queued', run: 2 })] });
  expect(told).toEqual([]);
  await later(11);
  expect(texts()).toEqual(['job old has been waiting for 10 minutes.']);
});

test('a job in its second run that is new to the page waits since it was seen', async () => {
  newsroom.wishes = { ends: true, waiting: 10, nodes: true };
  await later(60);
  server.socket.say({ type: 'jobs', jobs: [job('q', { phase: 'queued', run: 2 })] });
  expect(told).toEqual([]);
});

test('what ended before the last look is no news when its cluster comes back', async () => {
  const jobs = ['c', 'd', 'e', 'f'].map(id => job(id, { phase: 'failed', cluster: 'lab', ended: '2026-11-01T00:00:00Z' }));
  server.socket.say({ type: 'jobs', jobs });
  expect(told).toEqual([]);
  await later(1);
  const ended = new Date(manager.now()).toISOString();
  server.socket.say({ type: 'jobs', jobs: [job('g', { phase: 'failed', cluster: 'lab', ended })] });
  expect(texts()).toEqual(['job g failed: failed']);
});

test('a page whose clock is hours ahead of the server does not take a new job for one that waits', async () => {
  server.clockOffset = -7_200_000;
  newsroom.wishes = { ends: true, waiting: 10, nodes: true };
  server.socket.say({ type: 'jobs', jobs: [job('q', { phase: 'queued', created: '2026-11-15T23:02:03Z' })] });
  await later(9);
  expect(told).toEqual([]);
  await later(2);
  expect(texts()).toEqual(['job q has been waiting for 10 minutes.']);
});

test('who does not want to be told is not', async () => {
  newsroom.wishes = { ends: false, waiting: 0, nodes: false };
  server.socket.say({ type: 'jobs', jobs: [job('a', { phase: 'failed' }), job('q', { phase: 'queued' })] });
  await later(10_000);
  expect(told).toEqual([]);
});

describe('nodes', () => {
  const unwell = (node: string, ...problems: string[]): object => ({ node, problems });
  const health = (nodes: object[] | undefined, stale: string | null = null): void => {
    const lab = { name: 'lab', owner: 'alice', stale_since: stale, unwell: nodes };
    server.socket.say({ type: 'health', clusters: [lab] });
  };

  test('what is wrong when the server first tells of nodes is no news, and each trouble after it is told once', () => {
    health([unwell('a', 'disk-pressure')]);
    expect(told).toEqual([]);
    health([unwell('a', 'disk-pressure'), unwell('b', 'not-ready', 'unhealthy-cards')]);
    health([unwell('a', 'disk-pressure'), unwell('b', 'not-ready', 'unhealthy-cards')], '2026-11-16T01:02:04Z');
    health([unwell('b', 'unhealthy-cards')]);
    expect(told).toEqual([
      { kind: 'error', ofNodes: true, text: 'b of lab: not ready, it has unhealthy cards' },
      { kind: 'success', ofNodes: true, text: 'a of lab is well again.' }
    ]);
  });

  test('a server that does not guard nodes says nothing of them, and one that stops to has not mended them', () => {
    health(undefined);
    health([unwell('a', 'not-ready')]);
    health(undefined);
    health([unwell('a', 'not-ready')]);
    expect(told).toEqual([]);
  });

  test('many at once are one sentence, a code of a newer server is shown as it is, and nobody has to be told', () => {
    health([]);
    health(['a', 'b', 'c', 'd'].map(node => unwell(node, 'not-ready')));
    health([]);
    health([unwell('a', 'on-fire')]);
    expect(texts()).toEqual(['4 nodes are not well.', '4 nodes are well again.', 'a of lab: on-fire']);
    newsroom.wishes = { ends: true, waiting: 0, nodes: false };
    health([unwell('a', 'not-ready')]);
    expect(told).toHaveLength(3);
  });
});
