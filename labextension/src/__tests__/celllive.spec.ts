import { Signal } from '@lumino/signaling';

import { JobLive } from '../cell/joblive';
import { JobsLive } from '../cell/jobslive';
import { Rounds } from '../cell/rounds';
import { UsageLive } from '../cell/usagelive';
import { ApiError, isGone } from '../errors';
import { JobManager } from '../manager';

import { FakeServer, job } from './fakes';

const ID = 'abcdefghij';
let server: FakeServer;
let manager: JobManager;
let said: Map<string, unknown>;

beforeEach(() => {
  jest.useFakeTimers();
  server = new FakeServer();
  said = new Map();
  server.answers = path => {
    if (!said.has(path)) {
      throw new ApiError(404, { code: 'not-found', message: 'There is no such thing', hint: '' });
    }
    return said.get(path);
  };
  manager = new JobManager(server);
  said.set(`jobs/${ID}`, { ...job(ID), spec: { device: 'cpu' }, moves: ['stop'] });
  said.set(`jobs/${ID}/logs`, [{ seq: '1', t: '2026-11-16T01:02:03Z', rank: 0, stream: 'stdout', text: 'line' }]);
});

afterEach(() => {
  manager.dispose();
  jest.useRealTimers();
});

/** Let time pass, and everything that was asked be answered. */
const pass = (milliseconds: number): Promise<void> => jest.advanceTimersByTimeAsync(milliseconds);

/** What was asked since the last time. */
function asked(): string[] {
  return server.asked.splice(0).map(({ path, request: { query = {} } }) => {
    const words = Object.entries(query).filter(([key]) => key !== 'no_track_activity');
    return [path, words.map(([key, value]) => `${key}=${value}`).join('&')].filter(Boolean).join('?');
  });
}

describe('a job in a cell', () => {
  it('is asked for when it changes, its log while it runs, and nothing when it is over', async () => {
    server.socket.say({ type: 'snapshot', jobs: [job(ID)] });
    const live = new JobLive(ID, manager);
    live.watch();
    await pass(0);
    expect(asked()).toEqual([`jobs/${ID}`, `jobs/${ID}/logs?tail=12`]);
    expect(live.lines.map(({ text }) => text)).toEqual(['line']);
    await pass(10_000);
    const while_running = asked();
    expect(new Set(while_running)).toEqual(new Set([`jobs/${ID}/logs?tail=12`]));
    expect(while_running.length).toBeLessThan(6); // nothing new is printed: slower and slower

    said.set(`jobs/${ID}`, { ...job(ID, { phase: 'succeeded' }), moves: ['rerun'] });
    server.socket.say({ type: 'jobs', jobs: [job(ID, { phase: 'succeeded' })] });
    await pass(6000);
    expect(live.job?.phase).toBe('succeeded');
    asked();
    await pass(600_000);
    expect(asked()).toEqual([]);

    server.socket.say({ type: 'jobs', jobs: [job(ID)] }); // somebody runs it again
    await pass(1000);
    expect(asked()).toContain(`jobs/${ID}`);
    live.dispose();
  });

  it('asks nothing while it is out of sight, and all of it when it is back', async () => {
    const live = new JobLive(ID, manager);
    live.watch();
    await pass(0);
    live.rest();
    asked();
    server.socket.say({ type: 'jobs', jobs: [job(ID, { phase: 'failed' })] });
    await pass(60_000);
    expect(asked()).toEqual([]);
    live.watch();
    await pass(0);
    expect(asked()).toContain(`jobs/${ID}`);
    live.dispose();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('that the server does not know is said once, and not asked for again', async () => {
    const live = new JobLive('zzzzzzzzzz', manager);
    live.watch();
    await pass(60_000);
    expect(asked()).toEqual(['jobs/zzzzzzzzzz']);
    expect(isGone(live.trouble)).toBe(true);
    live.dispose();
  });
});

describe('a list of jobs in a cell', () => {
  it('takes a burst of changes together', async () => {
    said.set('jobs', [{ ...job(ID), spec: {} }]);
    const live = new JobsLive({ mine: '1' }, null, manager);
    live.watch();
    await pass(0);
    expect(asked()).toEqual(['jobs?limit=100&mine=1']);
    for (let count = 0; count < 50; count++) {
      server.socket.say({ type: 'jobs', jobs: [job(ID)] });
      await pass(10);
    }
    await pass(5000);
    expect(asked()).toEqual(['jobs?limit=100&mine=1']);
    live.dispose();
  });

  it('of ids asks again only for what changed, and leaves out what was deleted', async () => {
    const other = 'bbbbbbbbbb';
    said.set(`jobs/${other}`, { ...job(other), spec: {} });
    server.socket.say({ type: 'snapshot', jobs: [job(ID), job(other)] });
    const live = new JobsLive({}, [ID, other, 'zzzzzzzzzz'], manager);
    live.watch();
    await pass(0);
    expect(live.jobs?.map(({ id }) => id)).toEqual([ID, other]);
    asked();
    server.socket.say({ type: 'jobs', jobs: [job(other, { phase: 'failed' })] });
    await pass(2000);
    expect(asked().filter(path => path !== 'jobs/zzzzzzzzzz')).toEqual([`jobs/${other}`]);
    live.dispose();
  });
});

describe('the machine in cells', () => {
  const look = { t: '2026-11-16T08:00:00Z', host: { cpu: 1 }, devices: [], problems: [] };

  it('is watched once for all panels, as long as one of them is seen', async () => {
    said.set('usage', { ...look, history: { times: [1], series: { cpu: [2] } } });
    const live = new UsageLive(manager);
    let changes = 0;
    live.changed.connect(() => (changes += 1));
    live.watch();
    live.watch();
    await pass(0);
    expect(asked()).toEqual(['usage', 'usage?history=600']); // the manager's question, and that for what was before
    server.socket.say({ type: 'usage', usage: { ...look, t: '2026-11-16T08:00:01Z' } });
    expect(live.usage?.at).toBe(Date.parse('2026-11-16T08:00:01Z') / 1000);
    live.rest();
    const before = changes;
    server.socket.say({ type: 'usage', usage: { ...look, t: '2026-11-16T08:00:02Z' } });
    expect(changes).toBe(before + 1);
    live.rest();
    server.socket.say({ type: 'usage', usage: { ...look, t: '2026-11-16T08:00:03Z' } });
    expect(changes).toBe(before + 1);
    expect(manager.usage).toBeNull();
    expect(jest.getTimerCount()).toBe(0);
    Signal.clearData(live);
  });

  it('says when its numbers no longer come', async () => {
    said.set('usage', look);
    const live = new UsageLive(manager);
    live.watch();
    await pass(0);
    expect(live.isOld).toBe(false);
    await pass(20_000);
    expect(live.isOld).toBe(true);
    live.rest();
  });
});

describe('rounds', () => {
  it('never ask twice at once, and not after they were stopped', async () => {
    let open = 0;
    let most = 0;
    let count = 0;
    const rounds = new Rounds(async () => {
      open += 1;
      most = Math.max(most, open);
      await new Promise(resolve => setTimeout(resolve, 500));
      open -= 1;
      count += 1;
      return 100;
    });
    rounds.start();
    for (let turn = 0; turn < 20; turn++) {
      rounds.soon(0);
      await pass(50);
      rounds.stop();
      rounds.start();
    }
    expect(most).toBe(1);
    rounds.stop();
    await pass(1000);
    const before = count;
    await pass(10_000);
    expect(count).toBe(before);
  });
});
