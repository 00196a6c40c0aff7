import { Notification } from '@jupyterlab/apputils';
import { nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';

import { IdleWatch, idleText, type Idle, type IIdleJob, type INotice } from '../idle';
import { IdleNotice } from '../idlenotice';
import { idleRests } from '../idlerests';
import { JobManager } from '../manager';
import type { IQuestion } from '../moving';
import { type IKernels, release } from '../releasing';
import { FakeServer, job } from './fakes';

const NOW = '2026-11-16T10:00:00.000Z';
const HOUR_AGO = '2026-11-16T09:00:00.000000Z';
const trans = nullTranslator.load('jupyter_aiarts');

let server: FakeServer;
let manager: JobManager;
let watch: IdleWatch;
let shown: string[][];
let changed: string[][];
let hidden: number;
let notice: INotice;

/** As the server says it: `idle_since`. */
const idle = (id: string, since: string, changes: object = {}): object => ({ ...job(id), ...changes, idle_since: since });
/** A notebook's kernel, as the server says it. */
const kernel = (id: string, since: string): object => ({
  id, name: `${id}.ipynb`, path: `work/${id}.ipynb`, cards: 2, memory_mb: 2048, idle_since: since
});
const later = (minutes: number): Promise<void> => jest.advanceTimersByTimeAsync(minutes * 60_000);

beforeEach(async () => {
  jest.useFakeTimers({ now: new Date(NOW) });
  server = new FakeServer();
  server.said = {
    version: '1',
    clusters: [
      { name: 'local', owner: null, staleSince: null },
      { name: 'lab', owner: 'alice', staleSince: null }
    ]
  };
  manager = new JobManager(server);
  shown = [];
  hidden = 0;
  changed = [];
  window.localStorage.clear();
  notice = {
    change: jobs => changed.push(jobs.map(({ id }) => id)) > 0,
    show: jobs => void shown.push(jobs.map(({ id }) => id)),
    hide: () => void (hidden += 1)
  };
  watch = new IdleWatch(manager, notice, idleRests);
  server.socket.say({ type: 'snapshot', jobs: [job('a')] });
  await jest.advanceTimersByTimeAsync(0);
});

afterEach(() => {
  watch.dispose();
  manager.dispose();
  jest.useRealTimers();
});

test('cards that are idle for long are told of once, with all that are', () => {
  server.socket.say({ type: 'jobs', jobs: [idle('a', HOUR_AGO)] });
  server.socket.say({ type: 'jobs', jobs: [idle('a', HOUR_AGO)] });
  server.socket.say({ type: 'jobs', jobs: [idle('b', HOUR_AGO)] });
  expect(shown).toEqual([['a'], ['a', 'b']]);
});

test('it is told when the time has come, not before', async () => {
  server.socket.say({ type: 'jobs', jobs: [idle('a', NOW)] });
  await later(29);
  expect(shown).toEqual([]);
  await later(2);
  expect(shown).toEqual([['a']]);
});

test('those whose time comes within a second are told of together, and once', async () => {
  const soon = '2026-11-16T10:00:00.300Z';
  server.socket.say({ type: 'jobs', jobs: [idle('a', NOW), idle('b', soon)] });
  await later(31);
  expect([shown, changed]).toEqual([[['a', 'b']], []]);
});

test('it goes away when the cards work again, or the job ended', () => {
  server.socket.say({ type: 'jobs', jobs: [idle('a', HOUR_AGO)] });
  server.socket.say({ type: 'jobs', jobs: [job('a')] });
  expect(hidden).toBe(1);
  server.socket.say({ type: 'jobs', jobs: [idle('a', HOUR_AGO)] });
  server.socket.say({ type: 'jobs', jobs: [job('a', { phase: 'stopped' })] });
  expect([shown.length, hidden]).toEqual([2, 2]);
});

test('after a snooze it rests for an hour, and is told again if nothing changed', async () => {
  server.socket.say({ type: 'jobs', jobs: [idle('a', HOUR_AGO)] });
  watch.snooze();
  await later(59);
  server.socket.say({ type: 'jobs', jobs: [idle('a', HOUR_AGO)] });
  expect(shown).toEqual([['a']]);
  await later(2);
  expect(shown).toEqual([['a'], ['a']]);
});

test('a page that is loaded anew keeps to the snooze, whatever else is in the store', async () => {
  server.socket.say({ type: 'jobs', jobs: [idle('a', HOUR_AGO)] });
  watch.snooze();
  watch.dispose();
  watch = new IdleWatch(manager, notice, idleRests);
  server.socket.say({ type: 'snapshot', jobs: [job('a')] }); // that it is idle is told after that it is there
  server.socket.say({ type: 'jobs', jobs: [idle('a', HOUR_AGO)] });
  expect(shown).toEqual([['a']]);
  await later(61);
  expect(shown).toEqual([['a'], ['a']]);
  for (const text of ['nonsense', 'null', '7', '{"a": "b"}']) {
    window.localStorage.setItem('jupyter-aiarts:idle-rests', text);
    expect(idleRests.load()).toEqual({});
  }
});

test('a snooze in one tab is one in all that are open, and takes none of theirs away', () => {
  const store = 'jupyter-aiarts:idle-rests';
  server.socket.say({ type: 'jobs', jobs: [idle('a', HOUR_AGO)] });
  const soon = Date.parse(NOW) + 1800_000;
  window.localStorage.setItem(store, JSON.stringify({ [`b ${HOUR_AGO}`]: soon })); // by another tab
  server.socket.say({ type: 'jobs', jobs: [idle('b', HOUR_AGO)] });
  expect([shown, hidden]).toEqual([[['a'], ['a', 'b']], 0]);
  window.dispatchEvent(new StorageEvent('storage', { key: 'of somebody else' }));
  expect(changed).toEqual([]);
  window.dispatchEvent(new StorageEvent('storage', { key: store }));
  expect([changed, hidden]).toEqual([[['a']], 0]);
  window.localStorage.setItem(store, JSON.stringify({ [`c ${HOUR_AGO}`]: soon })); // at the same moment as the next line
  watch.snooze();
  expect(Object.keys(idleRests.load()).sort()).toEqual([`a ${HOUR_AGO}`, `b ${HOUR_AGO}`, `c ${HOUR_AGO}`]);
});

test('a notebook whose kernel holds idle cards is told of like a job, in the same notice, until it is gone', () => {
  server.socket.say({ type: 'idle', kernels: [kernel('n', HOUR_AGO)] });
  server.socket.say({ type: 'jobs', jobs: [idle('a', HOUR_AGO)] });
  server.socket.say({ type: 'idle', kernels: [] });
  expect([shown, changed, hidden]).toEqual([[['n'], ['a', 'n']], [['a']], 0]);
});

test('of a notebook too it is told when the time has come, and not while it rests', async () => {
  server.socket.say({ type: 'idle', kernels: [kernel('n', NOW)] });
  await later(29);
  expect(shown).toEqual([]);
  await later(2);
  watch.snooze();
  watch.dispose();
  watch = new IdleWatch(manager, notice, idleRests); // a page that is loaded anew
  server.socket.say({ type: 'snapshot', jobs: [], idle: [kernel('n', NOW)] });
  await later(59);
  expect(shown).toEqual([['n']]);
  await later(2);
  expect(shown).toEqual([['n'], ['n']]);
});

test('a connection that comes back tells of nothing anew', () => {
  server.socket.say({ type: 'idle', kernels: [kernel('n', HOUR_AGO)] });
  server.socket.say({ type: 'snapshot', jobs: [job('a')], idle: [kernel('n', HOUR_AGO)] });
  expect([shown, hidden]).toEqual([[['n']], 0]);
  server.socket.say({ type: 'snapshot', jobs: [job('a')] });
  expect(hidden).toBe(1);
});

test('of several, those that work again are no longer named', () => {
  server.socket.say({ type: 'jobs', jobs: [idle('a', HOUR_AGO), idle('b', HOUR_AGO)] });
  server.socket.say({ type: 'jobs', jobs: [job('b')] });
  expect([shown, changed, hidden]).toEqual([[['a', 'b']], [['a']], 0]);
});

test("it is the server's clock that counts", async () => {
  Object.assign(server, { clockOffset: -45 * 60_000 }); // this browser is three quarters of an hour ahead
  server.socket.say({ type: 'jobs', jobs: [idle('a', '2026-11-16T09:15:00.000000Z')] });
  expect(shown).toEqual([]);
  await later(31);
  expect(shown).toEqual([['a']]);
});

test("somebody else's cards, and what nobody knows, are no news", () => {
  server.socket.say({
    type: 'jobs',
    jobs: [idle('a', HOUR_AGO, { cluster: 'lab', owner: 'bob' }), { ...job('b'), idle_since: null }]
  });
  expect(shown).toEqual([]);
});

test('who wants to hear nothing hears nothing', async () => {
  watch.minutes = 0;
  server.socket.say({ type: 'jobs', jobs: [idle('a', HOUR_AGO)] });
  await later(600);
  expect(shown).toEqual([]);
  watch.minutes = 60;
  expect(shown).toEqual([['a']]);
});

test('one is named with since when, many are counted', () => {
  const one = { ...job('a'), idleSince: HOUR_AGO } as IIdleJob;
  expect(idleText([one], trans)).toMatch(/^job a holds cards that have done nothing since /);
  const held = { id: 'n', name: 'n.ipynb', path: 'n.ipynb', memoryMb: null, idleSince: HOUR_AGO, isKernel: true } as const;
  expect(idleText([{ ...held, cards: 1 }], trans)).toMatch(/^n.ipynb holds a card that has done nothing since /);
  const two: Idle = { ...held, cards: 2 };
  expect(idleText([two], trans)).toMatch(/^n.ipynb holds 2 cards that have done nothing since /);
  expect(idleText([two, two], trans)).toBe('2 notebooks hold cards that do nothing: n.ipynb, n.ipynb');
  expect(idleText([one, two], trans)).toBe('2 jobs and notebooks hold cards that do nothing: job a, n.ipynb');
  expect(idleText([one, one, one, one], trans)).toBe('4 jobs hold cards that do nothing: job a, job a, job a …');
});

describe('releasing', () => {
  const kernels = [{ id: 'n', name: 'n.ipynb', path: 'work/n.ipynb', cards: 2, memoryMb: 2048, idleSince: HOUR_AGO }];
  let asked: IQuestion[];
  let told: string[];
  let ended: string[];
  let services: IKernels;

  const room = (answer: boolean): Parameters<typeof release>[2] => ({
    ask: async question => (asked.push(question), answer),
    tell: (text, kind) => void told.push(`${kind}: ${text}`)
  });

  beforeEach(() => {
    [asked, told, ended] = [[], [], []];
    services = {
      kernels: { shutdown: async id => void ended.push(`kernel ${id}`) },
      sessions: {
        refreshRunning: async () => undefined,
        running: () => [{ id: 's', name: '', path: '', type: 'notebook', kernel: { id: 'n', name: '' } }][Symbol.iterator](),
        shutdown: async id => void ended.push(`session ${id}`)
      }
    };
  });

  test('says what will be lost and ends nothing where somebody says no', async () => {
    await release(kernels, services, room(false), trans);
    expect(asked[0]!.lines.join(' ')).toMatch(/work\/n.ipynb gives back: 2, with 2.0 GB .*Variables in memory are lost.* outputs stay/);
    expect([asked[0]!.isDanger, ended, told]).toEqual([true, [], []]);
  });

  test('ends the session that has the kernel, and the kernel where none has it', async () => {
    await release(kernels, services, room(true), trans);
    await release([{ ...kernels[0]!, id: 'alone' }], services, room(true), trans);
    expect(ended).toEqual(['session s', 'kernel alone']);
    expect(told[0]).toBe('success: Shut down the kernel of n.ipynb');
  });

  test('tells what the server refused, and goes on with the others', async () => {
    Object.assign(services.sessions, { shutdown: () => Promise.reject(new Error('no such session')) });
    await release([...kernels, { ...kernels[0]!, id: 'alone' }], services, room(true), trans);
    expect(told[0]).toMatch(/^error: n.ipynb: .*no such session/);
    expect(ended).toEqual(['kernel alone']);
  });

  test('is offered for notebooks, stopping for jobs, and both where there are both', () => {
    const one = { ...job('a'), idleSince: HOUR_AGO } as IIdleJob;
    const held: Idle = { ...kernels[0]!, isKernel: true };
    const labels = (idle: ReadonlyArray<Idle>): ReadonlyArray<string> => {
      const shows = new IdleNotice(new CommandRegistry(), trans);
      shows.show(idle);
      const { options } = Notification.manager.notifications[0]!;
      shows.hide();
      return options.actions!.map(({ label }) => label);
    };
    expect(labels([held])).toEqual(['Release cards', 'Snooze an hour']);
    expect(labels([one])).toEqual(['Stop job', 'Snooze an hour']);
    expect(labels([one, held])).toEqual(['Stop job', 'Release cards', 'Snooze an hour']);
    expect(labels([one, one])).toEqual(['Stop jobs', 'Show jobs', 'Snooze an hour']);
  });
});
