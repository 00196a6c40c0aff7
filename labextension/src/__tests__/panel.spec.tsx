import { nullTranslator } from '@jupyterlab/translation';
import { MessageLoop } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import { act, screen, within } from '@testing-library/react';

import { version } from '../../package.json';
import { JobManager } from '../manager';
import { JobsPanel } from '../panel';
import { FakeServer, job } from './fakes';

let server: FakeServer;
let manager: JobManager;
let panel: JobsPanel;

const say = (message: object): Promise<void> => act(async () => server.socket.say(message));
const rows = (): HTMLElement[] => within(screen.getByRole('list', { name: 'Jobs' })).getAllByRole('listitem');

/** Each text is somewhere in the element. */
const expectTexts = (element: HTMLElement | undefined, texts: ReadonlyArray<string>): void =>
  texts.forEach(text => expect(element?.textContent).toContain(text));

beforeEach(async () => {
  server = new FakeServer();
  manager = new JobManager(server);
  panel = new JobsPanel(manager, nullTranslator.load('jupyter_aiarts'));
  await act(async () => {
    Widget.attach(panel, document.body);
    MessageLoop.flush();
    await panel.renderPromise;
  });
});

afterEach(() => {
  manager.dispose();
  act(() => panel.dispose());
});

test('the panel is a named region', () => {
  expect(screen.getByRole('region', { name: 'AIArts jobs' })).toBe(panel.node);
});

test('a job shows its name, its phase in words and why', async () => {
  await say({
    type: 'snapshot',
    jobs: [job('a', { name: '训练 <b>', phase: 'queued', explanation: { code: 'queue-position', title: '2 jobs before it' } })]
  });
  expect(rows()).toHaveLength(1);
  expectTexts(rows()[0], ['训练 <b>', 'queued', '2 jobs before it']);
});

test('an explanation that only repeats the phase is left out', async () => {
  await say({ type: 'snapshot', jobs: [job('a', { explanation: { code: 'running', title: 'Running' } })] });
  expect(rows()[0]?.textContent).not.toContain('Running');
});

test('a change of phase shows and is read out, the first picture is not', async () => {
  await say({ type: 'snapshot', jobs: [job('a', { name: 'train' })] });
  expect(screen.getByRole('status').textContent).toBe('');
  await say({ type: 'jobs', jobs: [job('a', { name: 'train', phase: 'succeeded' })] });
  expectTexts(rows()[0], ['succeeded']);
  expect(screen.getByRole('status').textContent).toBe('train is succeeded.');
});

test('a burst is read out as a count', async () => {
  await say({ type: 'snapshot', jobs: [] });
  await say({ type: 'jobs', jobs: ['a', 'b', 'c', 'd'].map(id => job(id)) });
  expect(screen.getByRole('status').textContent).toBe('4 jobs changed.');
});

test('without jobs it says how to submit one', async () => {
  expectTexts(panel.node, ['Asking the server']);
  await say({ type: 'snapshot', jobs: [] });
  expectTexts(panel.node, ['No jobs yet', 'aiarts submit train.py', '%aiarts submit train.py']);
});

test('a lost connection is said, with the jobs still there', async () => {
  await say({ type: 'snapshot', jobs: [job('a')] });
  act(() => server.socket.hangUp());
  expectTexts(screen.getByRole('alert'), ['Stale since']);
  expect(rows()).toHaveLength(1);
});

test('a server that never answers is said, and not as "no jobs"', () => {
  act(() => server.socket.hangUp());
  expectTexts(screen.getByRole('alert'), ['not answering', 'jupyter server extension list']);
  expect(panel.node.textContent).not.toContain('No jobs');
});

test('another version on the server is said, the same one is not', async () => {
  await say({ type: 'snapshot', jobs: [] });
  await say({ type: 'health', versions: { server: version } });
  expect(screen.queryByRole('alert')).toBeNull();
  await say({ type: 'health', versions: { server: '9.9.9' } });
  expectTexts(screen.getByRole('alert'), [version, '9.9.9']);
});

test('a cluster that does not answer is named with the time, until it answers again', async () => {
  await say({ type: 'snapshot', jobs: [job('a')] });
  const clusters = (since: string | null): object[] => [
    { name: 'local', stale_since: null },
    { name: 'lab <b>', stale_since: since }
  ];
  await say({ type: 'health', clusters: clusters('2026-11-16T01:02:03.456789Z') });
  expectTexts(screen.getByRole('alert'), ['lab <b>', 'does not answer']);
  await say({ type: 'jobs', jobs: [job('b')] });
  expect(screen.getAllByRole('alert')).toHaveLength(1);
  await say({ type: 'health', clusters: clusters(null) });
  expect(screen.queryByRole('alert')).toBeNull();
});
