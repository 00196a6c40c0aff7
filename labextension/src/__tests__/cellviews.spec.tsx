import { nullTranslator } from '@jupyterlab/translation';
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import React from 'react';

import { JobView } from '../cell/job';
import { JobLive } from '../cell/joblive';
import { readJob, readJobUsage } from '../cell/reading';
import { UsageLive } from '../cell/usagelive';
import { UsageView } from '../cell/usage';
import { JobManager } from '../manager';
import { FakeServer } from './fakes';

const trans = nullTranslator.load('jupyter_aiarts');
const NASTY = '<img src=x onerror=alert(1)>';
const LOOK = {
  t: '2026-11-16T08:00:00Z',
  host: { cpu: null, cpus: 4, memory_used: 2 ** 30, memory_total: 2 ** 31, own: ['memory'], disks: [
    { path: '/full', used: 95, total: 100 },
    { path: '/fine', used: 5, total: 100 }
  ] },
  devices: [{ kind: 'npu', id: 0, name: NASTY, utilization: null, memory_used_mb: 0, memory_total_mb: 100, programs: null }],
  problems: [{ code: 'x', title: NASTY, why: '', actions: [{ label: 'Do it', command: 'rm -r x' }] }]
};

/** A question that waits for the test's answer. */
interface IQuestion {
  readonly path: string;
  readonly signal: AbortSignal | undefined;
  readonly answer: (body: unknown) => void;
}

let manager: JobManager;
let waiting: IQuestion[];
let live: UsageLive;

beforeEach(async () => {
  const server = new FakeServer();
  waiting = [];
  server.answers = (path, { signal }) =>
    new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(new Error('given up')));
      waiting.push({ path, signal, answer: resolve });
    });
  manager = new JobManager(server);
  live = new UsageLive(manager);
  live.watch();
  await act(async () => waiting.splice(0).forEach(({ answer }) => answer(LOOK)));
  render(<UsageView live={live} manager={manager} trans={trans} isSeen={false} />);
});

afterEach(() => {
  live.rest();
  manager.dispose();
});

test('what is not known is a question mark, and its bar is no meter', () => {
  expect(screen.queryByRole('meter', { name: 'CPU' })).toBeNull();
  expect(screen.getByRole('img', { name: 'CPU: ? / 4' })).toBeTruthy();
  expect(screen.getByRole('img', { name: 'npu 0 busy: ?' })).toBeTruthy();
  expect(screen.getByRole('meter', { name: 'npu 0 memory' }).getAttribute('aria-valuenow')).toBe('0');
});

test('names from outside stay text', () => {
  expect(document.querySelector('img')).toBeNull();
  expect(screen.getAllByText(NASTY).length).toBe(2);
});

test('a disk that is nearly full says so, and what takes its room is counted when somebody asks', async () => {
  expect(screen.getByText('nearly full')).toBeTruthy();
  expect(screen.queryByRole('button', { name: /\/fine/ })).toBeNull();
  fireEvent.click(screen.getByRole('button', { name: 'What takes the room of /full?' }));
  expect(waiting[0]!.path).toBe('usage/disk');
  await act(async () =>
    waiting[0]!.answer({ path: '/full', bytes: 10, complete: false, takers: [{ name: 'sets', bytes: 10, folder: true }] })
  );
  expect(screen.getByText('sets/')).toBeTruthy();
  expect(screen.getByText(/at least/)).toBeTruthy();
});

test('counting can be cancelled', async () => {
  fireEvent.click(screen.getByRole('button', { name: 'What takes the room of /full?' }));
  await act(async () => fireEvent.click(screen.getByRole('button', { name: /Cancel/ })));
  expect(waiting[0]!.signal?.aborted).toBe(true);
  expect(screen.getByRole('button', { name: 'What takes the room of /full?' })).toBeTruthy();
});

test.each([
  ['running', '30 %', '10.0 / 64.0 GB'],
  ['succeeded', '71 % on average', '48.0 / 64.0 GB']
])('the cards of a job that is %s are told by what they do, or else by what they did', (phase, busy, memory) => {
  const job = new JobLive('abcdefghij', manager);
  job.job = readJob({ id: 'abcdefghij', name: 'net', phase, spec: { device: 'npu', devices: 1 } });
  const card = { id: 0, utilization: 30, mean: 71, memory_used_mb: 10240, most_memory_mb: 49152, memory_total_mb: 65536 };
  job.cards = readJobUsage({ nodes: [{ node: 0, cards: [card] }] });
  cleanup();
  render(<JobView live={job} doors={{ act: () => undefined, open: null }} trans={trans} isSeen={false} />);
  expect(screen.getByText(busy)).toBeTruthy();
  expect(screen.getByText(memory)).toBeTruthy();
});

test('64 cards have a row each, and one that is gone says so', async () => {
  const [card] = LOOK.devices;
  const devices = Array.from({ length: 64 }, (_, id) => ({ ...card, id, name: '910B4', health: id === 7 ? 'gone' : 'ok' }));
  live.rest();
  live.watch();
  await act(async () => waiting.splice(0).forEach(({ answer }) => answer({ ...LOOK, devices })));
  cleanup();
  render(<UsageView live={live} manager={manager} trans={trans} isSeen={false} />);
  expect(screen.getAllByRole('rowheader')).toHaveLength(64);
  expect(screen.getByText('gone').closest('tr')?.textContent).toContain('npu 7');
});
