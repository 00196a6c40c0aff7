import type { ServerConnection } from '@jupyterlab/services';
import { nullTranslator } from '@jupyterlab/translation';
import { MessageLoop } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import { act, fireEvent, screen, within } from '@testing-library/react';

import type { Fix, FixRequest, Job, Move } from '../api';
import { ApiError, errorText } from '../errors';
import { JobManager } from '../manager';
import { sideBySide } from '../jobpage/envdiff';
import { blanks } from '../jobpage/explain';
import { inWords } from '../jobpage/chart';
import { plotOf, rankOf } from '../jobpage/history';
import { JobModel } from '../jobpage/model';
import { told } from '../jobpage/overview';
import { JobPage } from '../jobpage/page';
import { pathsOf } from '../jobpage/paths';
import { AiartsServer } from '../server';
import type { IRequest } from '../tokens';
import { FakeLog } from './fakelog';
import { FakeServer, job as listed } from './fakes';

/** jsdom cannot draw. */
jest.mock('../jobpage/plot', () => ({
  Plot: class {
    update = (): void => undefined;
    dispose = (): void => undefined;
  }
}));

const ID = 'abcdefghij';
const CARD = {
  id: 3,
  name: 'A',
  utilization: null,
  memory_used_mb: 1024,
  memory_total_mb: 4096,
  health: null,
  mean: 7,
  most: 9,
  most_memory_mb: null
};
const MOVES: ReadonlyArray<Move> = ['pause', 'stop', 'delete', 'clone'];
const trans = nullTranslator.load('jupyter_aiarts');
const HOSTILE = '<img src=x onerror="alert(1)">';

function whole(changes: Partial<Job> = {}): Job {
  return {
    ...listed(ID, { name: HOSTILE }),
    run: 1,
    started: '2026-11-16T01:02:13Z',
    spec: {
      script: '/home/alice/train.py',
      mounts: [{ source: 'pvc:data', target: '/data' }],
      env: {},
      image: null,
      nodes: 1
    },
    moves: MOVES,
    explanation: {
      code: 'x',
      title: 'why',
      why: HOSTILE,
      evidence: [HOSTILE],
      actions: [{ id: 'a-1', label: 'less', patch: { nodes: 1 } }]
    },
    ...changes
  };
}

const plan = ({ dry_run: dryRun = false }: Partial<FixRequest>): Partial<Fix> => ({
  kind: 'edit',
  changes: [{ key: 'nodes', before: 2, after: 1 }],
  first: null,
  move: 'rerun',
  command: null,
  done: !dryRun,
  job: whole()
});

/** What the server says of the job, which a test changes. */
let said: Record<string, unknown>;
let refusal: Error | null;

function answer(path: string, { query, body, method = 'GET' }: IRequest): unknown {
  if (refusal && path === `jobs/${ID}`) {
    throw refusal;
  }
  const found: Readonly<Record<string, () => unknown>> = {
    [`jobs/${ID}`]: () => said.job,
    [`jobs/${ID}/events`]: () => [{ t: '2026-11-16T01:02:04Z', type: 'Warning', reason: 'r', message: HOSTILE, object: 'pod' }],
    [`jobs/${ID}/usage`]: () => said.usage ?? { nodes: [{ node: 0, cards: [CARD] }] },
    [`jobs/${ID}/env`]: () => ({ RANK: String(query?.rank), SAME: HOSTILE, TOKEN: null }),
    [`jobs/${ID}/ranktable`]: () => {
      if (said.table === undefined) {
        throw new ApiError(404, { code: 'run-not-found', message: 'no rank table', hint: '' });
      }
      return said.table;
    },
    [`jobs/${ID}/explain`]: () => plan(body as Partial<FixRequest>)
  };
  return found[path]?.() ?? { path, method };
}

let server: FakeServer;
let manager: JobManager;
let page: JobPage;
let log: FakeLog;
let moved: string[];

const settle = (): Promise<void> => act(async () => new Promise(resolve => setTimeout(resolve, 5)));
const say = (message: object): Promise<void> => act(async () => server.socket.say(message));

beforeEach(async () => {
  said = { job: whole() };
  refusal = null;
  server = new FakeServer();
  server.answers = answer;
  manager = new JobManager(server);
  server.socket.say({ type: 'snapshot', jobs: [listed(ID, { name: HOSTILE, moves: MOVES })] });
  moved = [];
  log = new FakeLog();
  page = new JobPage(new JobModel(ID, manager, log), trans, move => void moved.push(move));
  await act(async () => {
    Widget.attach(page, document.body);
    MessageLoop.flush();
    await page.renderPromise;
  });
  await settle();
});

afterEach(() => {
  jest.useRealTimers();
  manager.dispose();
  act(() => page.dispose());
});

test('the page names its job, shows markup as text, and offers what the phase offers', () => {
  const region = screen.getByRole('region', { name: `Job ${HOSTILE}` });
  expect(region.querySelector('img')).toBeNull();
  expect(region.textContent).toContain(HOSTILE);
  fireEvent.click(within(region).getByRole('button', { name: 'Stop' }));
  expect(moved).toEqual(['stop']);
});

const fixes = (): unknown[] =>
  server.asked.flatMap(({ path, request: { body } }) => {
    const { fix, dry_run: dryRun } = (body ?? {}) as FixRequest;
    return path.endsWith('/explain') ? [[fix, dryRun]] : [];
  });

test('a fix shows what it changes before it is applied', async () => {
  fireEvent.click(screen.getByRole('button', { name: 'Show what this does: less' }));
  await settle();
  expect(fixes()).toEqual([['a-1', true]]);
  expect(screen.getByRole('row', { name: 'nodes 2 1' })).toBeTruthy();
  fireEvent.click(screen.getByRole('button', { name: 'Apply' }));
  await settle();
  expect(fixes()).toEqual([
    ['a-1', true],
    ['a-1', false]
  ]);
  expect(screen.getByText(/^Done:/)).toBeTruthy();
});

test('a change on the stream brings the whole job again', async () => {
  said.job = whole({ phase: 'failed', run: 7 });
  await say({ type: 'jobs', jobs: [listed(ID, { name: HOSTILE, phase: 'failed', moves: ['rerun'] })] });
  await settle();
  expect(screen.getByRole('button', { name: 'Run again' })).toBeTruthy();
  expect(page.node.textContent).toContain('run 7');
});

test('how far a job says it is comes with the list, and nothing is asked again for it', async () => {
  const before = server.asked.length;
  await say({ type: 'jobs', jobs: [listed(ID, { name: HOSTILE, moves: MOVES, progress: { text: 'step 1/4', share: 0.25 } })] });
  await settle();
  expect(screen.getByRole('progressbar').getAttribute('aria-valuetext')).toBe('step 1/4');
  expect(page.node.textContent).toContain('step 1/4');
  expect(server.asked).toHaveLength(before);
});

test('a job deleted by somebody else is said, with what was known', async () => {
  refusal = new ApiError(404, { code: 'job-not-found', message: 'There is no job', hint: '' });
  await say({ type: 'removed', ids: [ID] });
  await settle();
  expect(screen.getByRole('alert').textContent).toContain('This job was deleted');
  expect(page.node.textContent).toContain('/home/alice/train.py');
});

test('of a job that is gone nothing is asked, until it is there again', async () => {
  jest.useFakeTimers();
  const pass = (milliseconds: number): Promise<void> =>
    act(async () => void (await jest.advanceTimersByTimeAsync(milliseconds)));
  await act(async () => page.model.look('usage'));
  await pass(40_000);
  const usages = (): number => server.asked.filter(({ path }) => path.endsWith('/usage')).length;
  expect(usages()).toBeGreaterThan(2);
  refusal = new ApiError(404, { code: 'job-not-found', message: 'There is no job', hint: '' });
  await say({ type: 'removed', ids: [ID] });
  await pass(10);
  const before = server.asked.length;
  await pass(100_000);
  await act(async () => page.model.look('ranks'));
  await act(async () => page.model.look('usage'));
  await pass(100_000);
  expect(server.asked).toHaveLength(before);
  refusal = null;
  const known = usages();
  await say({ type: 'jobs', jobs: [listed(ID, { name: HOSTILE, moves: MOVES })] });
  await pass(40_000);
  expect(usages()).toBeGreaterThan(known + 2);
});

test('the log of a job that is gone is followed no more, and says where it went', async () => {
  await act(async () => page.model.look('logs'));
  await settle();
  refusal = new ApiError(404, { code: 'job-not-found', message: 'There is no job', hint: '' });
  log.broken = refusal;
  await say({ type: 'removed', ids: [ID] });
  log.cut();
  await settle();
  const streams = log.streams;
  await act(async () => new Promise(resolve => setTimeout(resolve, 700)));
  expect(log.streams).toBe(streams);
  expect(screen.getByText('Its log went with it.')).toBeTruthy();
  expect(screen.getAllByRole('alert')).toHaveLength(1);
  refusal = log.broken = null;
  await say({ type: 'jobs', jobs: [listed(ID, { name: HOSTILE, moves: MOVES })] });
  await settle();
  expect(log.streams).toBe(streams + 1);
});

test('a job that nobody lists because its cluster is away is not called deleted, and lives on when it is back', async () => {
  refusal = new ApiError(503, { code: 'cluster-unreachable', message: 'The cluster lab does not answer.', hint: '' });
  await say({ type: 'snapshot', jobs: [] });
  await settle();
  expect(page.node.textContent).not.toContain('This job was deleted');
  expect(screen.getByRole('alert').textContent).toContain('The cluster lab does not answer.');
  refusal = null;
  await say({ type: 'jobs', jobs: [listed(ID, { name: HOSTILE, moves: MOVES })] });
  await settle();
  expect(screen.queryByRole('alert')).toBeNull();
  expect(screen.getByRole('button', { name: 'Stop' })).toBeTruthy();
});

test('a page restored for a job that is gone says so', async () => {
  refusal = new ApiError(404, { code: 'job-not-found', message: 'There is no job', hint: '' });
  await act(async () => page.model.job.load());
  expect(screen.getAllByRole('alert')[0]?.textContent).toContain('This job was deleted');
});

test('a server that fails is said with a way to ask again, and what was known stays', async () => {
  refusal = new ApiError(500, { code: 'http-error', message: 'HTTP 500', hint: '' });
  await act(async () => page.model.job.load());
  expect(screen.getByRole('alert').textContent).toContain('500');
  expect(page.node.textContent).toContain('/home/alice/train.py');
  refusal = null;
  fireEvent.click(screen.getByRole('button', { name: 'Ask again' }));
  await settle();
  expect(screen.queryByRole('alert')).toBeNull();
});

test('unknown is said and has no bar', async () => {
  await act(async () => page.model.look('usage'));
  await act(async () => page.model.usage.load());
  expect(screen.getAllByRole('meter')).toHaveLength(1);
  expect(screen.getByRole('meter').getAttribute('aria-valuenow')).toBe('25');
  expect(page.node.textContent).toContain('?');
});

test('power and heat of a card, disks of a rank and the network of a pod are told where they are known', async () => {
  const card = { ...CARD, health: 'ok', power_w: 0, temperature_c: 32 };
  const rank = { rank: 0, cpu: 1.5, memory_mb: 10, read: 3 * 1024 * 1024, written: null, mean_read: 1024, mean_written: 0 };
  const pod = { node: 0, cards: [card], ranks: [rank], received: 2048, sent: 0, mean_received: 1024, mean_sent: null };
  said.usage = { nodes: [pod, { node: 1, cards: [CARD] }] };
  await act(async () => page.model.look('usage'));
  await act(async () => page.model.usage.load());
  const [first, second] = screen.getAllByRole('region', { name: /^Node/ }).map(node => node.textContent);
  expect(first).toContain('ok · 0 W · 32 °C');
  expect(first).toContain('3.0 MB/s · ?');
  expect(first).toContain('disks mean 1.0 KB/s and 0 B/s');
  expect(first).toContain('Network: receives 2.0 KB/s (mean 1.0 KB/s), sends 0 B/s (mean ?)');
  expect(second).not.toContain('Network');
  expect(second).not.toContain(' W');
});

test('secrets stay secret and two ranks are compared', async () => {
  await act(async () => page.model.look('ranks'));
  await settle();
  expect(screen.getByRole('row', { name: 'TOKEN secret' })).toBeTruthy();
  expect(page.node.querySelector('img')).toBeNull();
});

test('the tabs are one stop for the Tab key and turn with the arrows', async () => {
  const tabs = screen.getAllByRole('tab');
  expect(tabs.map(tab => tab.tabIndex)).toEqual([0, -1, -1, -1, -1]);
  await act(async () => void fireEvent.keyDown(tabs[0]!, { key: 'ArrowLeft' }));
  expect(screen.getByRole('tab', { selected: true }).textContent).toBe('Events');
});

test('variables side by side: what differs, what one lacks, names that are no words', () => {
  const rows = sideBySide({ A: '1', B: '2', constructor: 'x' }, { A: '1', B: '3', C: null });
  expect(rows.filter(row => row.differs).map(row => [row.name, row.left, row.right])).toEqual([
    ['B', '2', '3'],
    ['C', undefined, null],
    ['constructor', 'x', undefined]
  ]);
});

test('the past of a run is a line for each card or rank, in their order, with gaps where nothing was known', () => {
  const past = { times: [60, 90], series: { '10 cpu': [1, 2], '2 cpu': [null, 0.5], '2 memory': [7, 8], odd: [0, 0] } };
  expect(plotOf(past, 'cpu', rank => `rank ${rank}`)).toEqual({
    times: [60, 90],
    lines: [
      { label: 'rank 2', values: [null, 0.5] },
      { label: 'rank 10', values: [1, 2] }
    ]
  });
  expect(plotOf({ times: [], series: {} }, 'cpu', String).lines).toEqual([]);
});

test('a chart says its last values in words; a card is its rank\u2019s where that was reported', () => {
  const text = (value: number): string => `${value} %`;
  const lines = [
    { label: 'rank 4, card 3', values: [1, 2] },
    { label: 'card 5', values: [1, null] }
  ];
  expect(inWords({ times: [1, 2], lines, most: 100, text })).toBe('rank 4, card 3: 2 %, card 5: ?');
  const ranks = [{ rank: 4, node: 1, phase: 'running' as const, devices: [3] }];
  expect([rankOf(ranks, 1, 3), rankOf(ranks, 0, 3), rankOf([], 1, 3)]).toEqual([4, null, null]);
});

/** A connection whose server answers this; jsdom has no requests of its own. */
function connection(fetch: () => Promise<unknown>): ServerConnection.ISettings {
  const Request = class {
    headers = new Map();
  };
  return { baseUrl: 'http://x/base/', init: {}, token: '', fetch, Request } as unknown as ServerConnection.ISettings;
}

const ask = (fetch: () => Promise<unknown>): Promise<unknown> =>
  new AiartsServer(connection(fetch), 'en').ask('cluster').catch((error: unknown) => errorText(error, trans));

test('nobody answering is said, with what to do', async () => {
  expect(await ask(() => Promise.reject(new TypeError('Failed to fetch')))).toContain('Check that it runs');
});

test.each([
  [403, '{"message": "Forbidden"}', 'Your login may have ended'],
  [200, '<html>Log in</html>', 'Your login may have ended'],
  [500, '<html>proxy</html>', 'HTTP 500'],
  [409, '{"code": "wrong-phase", "message": "Not now", "hint": "Stop it."}', 'Not now Stop it.']
])('an answer of %s is said in words: %s', async (status, body, words) => {
  const response = { ok: status < 400, status, text: async () => body, headers: { get: () => null } };
  expect(await ask(async () => response)).toContain(words);
});

test('what no list has is asked for again when the job is told of, and how far it is costs no question', async () => {
  const questions = (): number => server.asked.filter(({ path }) => path === `jobs/${ID}`).length;
  const before = questions();
  await say({ type: 'jobs', jobs: [listed(ID, { name: HOSTILE, moves: MOVES })] }); // one of its ranks ended, for all we know
  await settle();
  expect(questions()).toBe(before + 1);
  await say({ type: 'jobs', jobs: [listed(ID, { name: HOSTILE, moves: MOVES, progress: { text: '1/4', share: 0.25 } })] });
  await settle();
  expect(questions()).toBe(before + 1);
});

test('a log that could not be read is not said to be empty', async () => {
  log.broken = new ApiError(503, { code: 'unavailable', message: 'The cluster is away.', hint: '' });
  await act(async () => page.model.look('logs'));
  await settle();
  expect(screen.getByRole('alert').textContent).toContain('The cluster is away.');
  expect(screen.queryByText('Nothing printed yet.')).toBeNull();
});

test('the clock of the server is taken from answers that come at once, and not from one that took long', async () => {
  let takes = 0;
  const now = Date.parse('2026-11-16T10:00:00Z');
  const clock = jest.spyOn(Date, 'now').mockReturnValue(now);
  const date = new Date(now + 3_600_000).toUTCString();
  const made = new AiartsServer(
    connection(async () => {
      clock.mockReturnValue(Date.now() + takes);
      return { ok: true, status: 200, text: async () => '{}', headers: { get: () => date } };
    }),
    'en'
  );
  await made.ask('cluster');
  const first = made.clockOffset;
  takes = 600_000; // followed, and nothing was printed for so long: its date is of the beginning
  await made.ask('cluster');
  clock.mockRestore();
  expect([first, made.clockOffset]).toEqual([3_600_500, 3_600_500]);
});

test('an answer that breaks off is said as one that did not come', async () => {
  const response = { ok: true, status: 200, text: () => Promise.reject(new TypeError('network error')), headers: { get: () => null } };
  expect(await ask(async () => response)).toContain('Check that it runs');
});

test('an address leaves out what is not asked for', () => {
  const made = new AiartsServer(connection(() => Promise.reject(new Error())), 'zh');
  expect(made.url('jobs/a/logs', { rank: 0, run: null, fold: false, follow: true, grep: 'a b&c' })).toBe(
    'http://x/base/aiarts/jobs/a/logs?rank=0&follow=1&grep=a%20b%26c&lang=zh'
  );
});

test('paths, keys and blanks of hostile specs', () => {
  expect(pathsOf({ script: '/a', workdir: null, mounts: [{ source: 'x', target: '/d' }] })).toEqual([
    ['script', '/a'],
    ['mount', '/d']
  ]);
  expect(pathsOf({ script: './a/train.py', workdir: '/w/', data_path: '~/d', output_path: 'out' })).toEqual([
    ['script', '/w/a/train.py'],
    ['workdir', '/w/'],
    ['data_path', '~/d'],
    ['output_path', '/w/out']
  ]);
  expect(pathsOf({ script: 'train.py', workdir: null })).toEqual([['script', 'train.py']]);
  expect(told({ a: null, b: [], c: {}, d: 0, e: false }).map(([key]) => key)).toEqual(['d', 'e']);
  const action = { id: 'x', label: '', patch: null, command: 'aiarts edit abcdefghij image=IMAGE nodes=2' };
  expect(blanks(action)).toEqual(['image']);
  expect(blanks({ ...action, command: 'rm A=B' })).toEqual([]);
});

test('a rank table is told as rows and as its file, with what the doctor says; a job without one has none', async () => {
  await act(async () => page.model.look('ranks'));
  await settle();
  expect(screen.queryByRole('region', { name: 'Rank table' })).toBeNull();
  expect(screen.queryByRole('alert')).toBeNull();

  said.table = {
    text: `{"status": "${HOSTILE}"}`,
    cards: [{ rank: 0, server: '10.0.0.1', device: 3, ip: '' }],
    ok: false,
    checks: [{ ok: false, message: HOSTILE }],
    findings: []
  };
  await act(async () => page.model.rankTable.load());
  const region = screen.getByRole('region', { name: 'Rank table' });
  expect(within(region).getByRole('row', { name: '0 10.0.0.1 3 unknown' })).toBeTruthy();
  expect(within(region).getByText('HCCL would refuse this table.')).toBeTruthy();
  expect(within(region).getByRole('list', { name: 'What the doctor says' }).textContent).toBe(HOSTILE);
  expect(region.querySelector('img')).toBeNull();
});
