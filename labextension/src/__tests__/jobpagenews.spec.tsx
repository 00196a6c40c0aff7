import { nullTranslator } from '@jupyterlab/translation';
import { MessageLoop } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import { act, fireEvent, screen } from '@testing-library/react';

import type { Job } from '../api';
import { ApiError, readError } from '../errors';
import { JobModel } from '../jobpage/model';
import { JobPage } from '../jobpage/page';
import { JobManager } from '../manager';
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
const trans = nullTranslator.load('jupyter_aiarts');
const RANKS = [0, 1, 2].map(rank => ({ rank, node: 0, phase: 'running' as const, exit_code: null, devices: [] }));

/** What the server says of the job, which a test changes. */
let said: Job;
let server: FakeServer;
let manager: JobManager;
let page: JobPage;
let log: FakeLog;

function whole(changes: Partial<Job> = {}): Job {
  return { ...listed(ID), spec: { script: '/home/alice/train.py', nodes: 1 }, ranks: RANKS, ...changes } as Job;
}

function answer(path: string): unknown {
  return { [`jobs/${ID}`]: said, [`jobs/${ID}/events`]: [], [`jobs/${ID}/usage`]: { nodes: [] } }[path] ?? null;
}

const settle = (): Promise<void> => act(async () => new Promise(resolve => setTimeout(resolve, 5)));
const say = (message: object): Promise<void> => act(async () => server.socket.say(message));

/** A page of the job, on a connection that has not spoken yet. */
async function open(): Promise<void> {
  server = new FakeServer();
  server.answers = answer;
  manager = new JobManager(server);
  log = new FakeLog();
  page = new JobPage(new JobModel(ID, manager, log), trans, () => undefined);
  await act(async () => {
    Widget.attach(page, document.body);
    MessageLoop.flush();
    await page.renderPromise;
  });
  await settle();
}

beforeEach(async () => {
  said = whole();
  await open();
});

afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
  manager.dispose();
  act(() => page.dispose());
});

test('a page that comes back before the list asks again when the list does: the job may have ended in between', async () => {
  expect(page.model.job.value?.phase).toBe('running');
  said = whole({ phase: 'succeeded' });
  await say({ type: 'snapshot', jobs: [listed(ID, { phase: 'succeeded' })] });
  await settle();
  expect(page.model.job.value?.phase).toBe('succeeded');
});

test('variables that were not there yet, or are those of an earlier attempt, are asked for again when the job is told of', async () => {
  await say({ type: 'snapshot', jobs: [listed(ID)] });
  let refused = true;
  let port = 1;
  server.answers = (path: string, request: IRequest) => {
    if (!path.endsWith('/env')) {
      return answer(path);
    }
    if (refused) {
      throw new ApiError(404, { code: 'run-not-found', message: 'no environment yet', hint: '' });
    }
    return { RANK: String(request.query?.rank), PORT: `${port}:${String(request.query?.rank)}` };
  };
  await say({ type: 'jobs', jobs: [listed(ID, { phase: 'starting' })] });
  await act(async () => page.model.look('ranks'));
  fireEvent.change(screen.getByRole('combobox', { name: 'Compare with' }), { target: { value: '2' } });
  await settle();
  expect(screen.getAllByText(/no environment yet/)).toHaveLength(2);
  expect(screen.getAllByRole('button', { name: 'Ask again' })).toHaveLength(2);
  refused = false;
  await say({ type: 'jobs', jobs: [listed(ID, { phase: 'running' })] });
  await settle();
  expect(screen.queryByText(/no environment yet/)).toBeNull();
  expect(screen.getByRole('row', { name: 'RANK 0 2' })).toBeTruthy();
  port = 2; // paused and resumed: another attempt of the same run
  const before = server.asked.length;
  await say({ type: 'jobs', jobs: [listed(ID, { phase: 'running', moves: ['stop'] })] });
  await settle();
  expect(screen.getByRole('row', { name: 'PORT 2:0 2:2' })).toBeTruthy();
  const ranks = server.asked.slice(before).flatMap(({ path, request }) => (path.endsWith('/env') ? [request.query?.rank] : []));
  expect(ranks).toEqual([0, 2]); // nothing that nobody looks at
});

test('a page in a browser tab that nobody looks at asks for nothing and holds no connection', async () => {
  await say({ type: 'snapshot', jobs: [listed(ID)] });
  jest.useFakeTimers();
  const look = async (isHidden: boolean): Promise<void> => {
    jest.spyOn(document, 'hidden', 'get').mockReturnValue(isHidden);
    await act(async () => {
      document.dispatchEvent(new Event('visibilitychange'));
      await jest.advanceTimersByTimeAsync(40_000);
    });
  };
  await act(async () => page.model.look('usage'));
  await look(true);
  const asked = server.asked.length;
  await act(async () => page.model.look('logs'));
  await look(true);
  expect([server.asked.length, log.streams]).toEqual([asked, 0]);
  await look(false);
  expect(log.streams).toBe(1);
  log.print();
  await look(true);
  page.hide();
  page.show(); // in its own tab it is in front, and still nobody looks
  MessageLoop.flush();
  await look(true);
  expect(log.streams).toBe(1);
  await look(false);
  expect(log.streams).toBe(2);
});

test('a connection that died without a word is noticed while a page is seen; a quiet one that lives is left alone', async () => {
  await say({ type: 'snapshot', jobs: [listed(ID)] });
  jest.useFakeTimers();
  const pass = (minutes: number): Promise<void> => act(async () => void (await jest.advanceTimersByTimeAsync(minutes * 60_000)));
  await act(async () => page.model.show(false));
  await act(async () => page.model.show(true));
  for (let minute = 0; minute < 10; minute++) {
    await pass(1);
    await say({ type: 'alive' });
  }
  expect(server.sockets).toHaveLength(1);
  await pass(4.5);
  expect([server.sockets.length, manager.link.state]).toEqual([2, 'stale']);
  expect(screen.getByText(/Stale since/)).toBeTruthy();
});

test('a proxy that finds no server behind it does not say that the job was deleted', async () => {
  await say({ type: 'snapshot', jobs: [listed(ID)] });
  server.answers = () => {
    throw readError(404, '404 page not found');
  };
  await say({ type: 'jobs', jobs: [listed(ID, { phase: 'queued' })] });
  await settle();
  expect(page.node.textContent).not.toContain('This job was deleted');
  server.answers = () => {
    throw readError(404, '{"code":"job-not-found","message":"There is no job","hint":""}');
  };
  await say({ type: 'removed', ids: [ID] });
  await settle();
  expect(page.node.textContent).toContain('This job was deleted');
});
