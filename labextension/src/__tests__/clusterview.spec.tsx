import type { JupyterFrontEnd } from '@jupyterlab/application';
import { nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { MessageLoop } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import { act, fireEvent, screen } from '@testing-library/react';

import { ClusterModel } from '../clusterview/model';
import { ClusterPage } from '../clusterview/page';
import { amountsOf, freeInRings, groups, hasRings, inUse, sought, totals } from '../clusterview/picture';
import { amountText } from '../clusterview/queues';
import type { Holding, Node } from '../api';
import { JobManager } from '../manager';
import { clusterViewPlugin } from '../plugins/clusterview';
import { Commands } from '../tokens';
import { FakeServer, job } from './fakes';

const trans = nullTranslator.load('jupyter_aiarts');

function node(changes: Partial<Node> = {}): Node {
  return {
    cluster: 'lab',
    name: 'n0',
    ready: true,
    device: 'huawei_npu_arm64',
    cards: 8,
    free: 8,
    ...changes
  };
}

const holding = (cards: number, ids: number[] | null, job = 'abcdefghij'): Holding => ({
  owner: 'alice',
  job,
  namespace: null,
  pod: null,
  cards,
  ids
});

test('a board has two rings, a GPU node none', () => {
  expect(groups(node()).map(ring => ring.length)).toEqual([4, 4]);
  expect(groups(node({ device: 'nvidia_gpu_amd64' })).map(ring => ring.length)).toEqual([8]);
  expect([hasRings(node({ cards: 4 })), groups(node({ cards: null })).length]).toEqual([false, 0]);
});

test('a card that is known by its id is at its place; one that is not is nowhere in particular', () => {
  const known = groups(node({ free: 6, held_by: [holding(2, [1, 5])] }));
  expect(known.map(ring => ring.map(cell => (cell.state === 'held' ? 1 : 0)))).toEqual([
    [0, 1, 0, 0],
    [0, 1, 0, 0]
  ]);
  expect(freeInRings(node({ free: 6, held_by: [holding(2, [1, 5])] }))).toEqual([3, 3]);
  const loose = node({ free: 6, held_by: [holding(2, null)] });
  expect(
    groups(loose)
      .flat()
      .filter(cell => cell.state === 'held')
      .map(cell => cell.id)
  ).toEqual([null, null]);
  expect(freeInRings(loose)).toBeNull();
});

test('what may not be seen is unknown, never free', () => {
  const hidden = node({ free: null });
  expect(
    groups(hidden)
      .flat()
      .every(cell => cell.state === 'unknown')
  ).toBe(true);
  expect(totals([node(), hidden]).get('huawei_npu_arm64')).toEqual({ cards: 16, free: null });
});

describe('a board with a card that is not well', () => {
  const drawn = (changes: Partial<Node>): ReadonlyArray<string> =>
    groups(node({ cards: 7, unhealthy: 1, ...changes })).map(ring =>
      ring.map(({ state, id }) => `${state === 'unknown' ? '?' : state === 'unwell' ? 'x' : state[0]}${id ?? ''}`).join(' ')
    );

  test('has all its places and its rings; which of the cards that nobody holds it is, nobody said', () => {
    expect(drawn({ free: 7 })).toEqual(['f f f f', 'f f f x']);
    expect(freeInRings(node({ cards: 7, unhealthy: 1, free: 7 }))).toBeNull();
  });

  test('shows who holds the last place, and as many free cards as there are', () => {
    expect(drawn({ free: 5, held_by: [holding(2, [1, 7])] })).toEqual(['f h1 f f', 'f f x h7']);
    expect(drawn({ free: 5, held_by: [holding(2, null)] })).toEqual(['h h f f', 'f f f x']);
  });

  test('is certain where all others are held', () => {
    expect(drawn({ free: 0, held_by: [holding(7, [0, 1, 2, 3, 4, 6, 7])] })).toEqual(['h0 h1 h2 h3', 'h4 x5 h6 h7']);
  });

  test('has no other one where somebody holds just that card', () => {
    expect(drawn({ free: 0, missing: 1, held_by: [holding(8, [0, 1, 2, 3, 4, 5, 6, 7])] })).toEqual([
      'h0 h1 h2 h3',
      'h4 h5 h6 h7'
    ]);
  });

  test('shows none as free where that may not be seen', () => {
    expect(drawn({ free: null })).toEqual(['? ? ? ?', '? ? ? x']);
  });

  test('may offer that card all the same, and may offer none', () => {
    expect(drawn({ cards: 8, free: 8 })).toEqual(['f0 f1 f2 f3', 'f4 f5 f6 f7']);
    expect(drawn({ cards: 0, unhealthy: 8, free: 0 })).toEqual(['x0 x1 x2 x3', 'x4 x5 x6 x7']);
    expect(drawn({ device: 'nvidia_gpu_amd64', cards: 2, free: 2 })).toEqual(['f f x']);
  });
});

test('more held than there is does not break the picture', () => {
  expect(
    groups(node({ cards: 2, free: 0, held_by: [holding(5, null)], device: 'nvidia_gpu_amd64' })).flat()
  ).toHaveLength(2);
});

test('nodes are found by name, job and user', () => {
  const nodes = [node({ name: 'a', held_by: [holding(1, [0])] }), node({ name: 'b', free: 0 })];
  expect(sought(nodes, 'ALICE', false, trans).map(one => one.name)).toEqual(['a']);
  expect(sought([node({ problems: ['not-ready'] }), node()], 'not ready', false, trans)).toHaveLength(1);
  expect(sought(nodes, '', true, trans).map(one => one.name)).toEqual(['a']);
});

test('amounts: memory in GB, the rest in units, unknown as that', () => {
  expect(amountText('memory', 3 * 1024 ** 3, trans)).toBe('3 GB');
  expect([amountText('cpu', 1.25, trans), amountText('cpu', null, trans)]).toEqual(['1.3', 'unknown']);
});

test('what somebody holds is told amount by amount', () => {
  expect(amountsOf({ ...holding(2, [1, 5]), cpu: 0.25 }, trans)).toEqual(['2 cards (1, 5)', '0.3 CPUs']);
  expect(amountsOf({ ...holding(0, null), cpu: 4 }, trans)).toEqual(['4 CPUs']);
  expect(amountsOf(holding(8, null), trans)).toEqual(['8 cards']);
});

test('what a node really uses is told where the cluster knows it, and else unknown, never 0', () => {
  expect(inUse(node({ used_cpu: 3.14, used_memory_gb: 0 }), trans)).toBe('In use just now: 3.1 CPUs, 0 GB of memory');
  expect(inUse(node({ used_cpu: 2, used_memory_gb: null }), trans)).toBe('In use just now: 2 CPUs, unknown GB of memory');
  expect(inUse(node(), trans)).toContain('unknown');
});

test('1,000 nodes: few rows in the page, a card that is not well is told as that, the keyboard reaches the last, markup stays text, who holds cards is a way to the job', async () => {
  const server = new FakeServer();
  const manager = new JobManager(server);
  const hostile = '<img src=x onerror=alert(1)>';
  const nodes = Array.from({ length: 1000 }, (_, index) =>
    node({ name: index === 0 ? hostile : `n${index}`, held_by: [{ ...holding(1, [2]), owner: hostile }], free: 7 })
  );
  nodes[1] = node({ name: 'n1', cards: 7, unhealthy: 1, free: 7 });
  const lines = [{ name: 'q', cluster: 'lab', kind: 'quota', quota: { cpu: 4, memory: null }, used: { cpu: 1, memory: 5 } }];
  server.answers = path => (path === 'queues' ? lines : { nodes, fits: null, clusters: [] });
  server.socket.say({ type: 'snapshot', jobs: [job('abcdefghij', { name: 'train' })] });
  const opened: string[] = [];
  const page = new ClusterPage(manager, trans, id => void opened.push(id));
  await act(async () => {
    Widget.attach(page, document.body);
    MessageLoop.flush();
    await page.renderPromise;
    await page.model.snapshot.load();
  });
  expect(screen.getAllByRole('option').length).toBeLessThan(60);
  expect(page.node.querySelector('img')).toBeNull();
  const unwell = [...page.node.querySelectorAll<HTMLElement>('.aiarts-CardMark[data-state=unwell]')];
  expect(unwell.map(({ title }) => title)).toEqual(['', 'A card that is not well']);
  const list = screen.getByRole('listbox', { name: 'Nodes of the cluster' });
  await act(async () => void fireEvent.keyDown(list, { key: 'End' }));
  expect(screen.getByRole('complementary', { name: 'Node n999' }).textContent).toContain('7 of 8 cards free');
  fireEvent.click(screen.getByRole('button', { name: 'train' }));
  expect(opened).toEqual(['abcdefghij']);
  expect(screen.getByRole('meter', { name: 'q cpu' }).getAttribute('aria-valuenow')).toBe('25');
  expect(screen.queryByRole('meter', { name: 'q memory' })).toBeNull();
  manager.dispose();
  act(() => page.dispose());
});

test('cards that others take are seen while the page is: every ten seconds, one question at a time, none while it is hidden', async () => {
  jest.useFakeTimers();
  const pass = async (milliseconds: number): Promise<void> => void (await jest.advanceTimersByTimeAsync(milliseconds));
  const server = new FakeServer();
  const manager = new JobManager(server);
  let delay = 0;
  let free = 8;
  server.answers = async path => {
    await new Promise(resolve => setTimeout(resolve, delay));
    return path === 'queues' ? [] : { nodes: [node({ free })], fits: null, clusters: [] };
  };
  const asked = (): number => server.asked.filter(({ path }) => path === 'cluster').length;
  const model = new ClusterModel(manager, () => undefined);
  model.show(true);
  await pass(10);
  expect([asked(), model.snapshot.value?.page.nodes[0]?.free]).toEqual([1, 8]);
  free = 3;
  await pass(10_000);
  expect([asked(), model.snapshot.value?.page.nodes[0]?.free]).toEqual([2, 3]);
  delay = 60_000;
  await pass(50_000);
  expect(asked()).toBe(3);
  model.show(false);
  await pass(200_000);
  expect(asked()).toBe(3);
  delay = 0;
  model.show(true);
  await pass(10);
  expect(asked()).toBe(4);
  const hidden = jest.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden');
  document.dispatchEvent(new Event('visibilitychange'));
  await pass(60_000);
  expect(asked()).toBe(4);
  hidden.mockRestore();
  model.dispose();
  manager.dispose();
  jest.useRealTimers();
});

test('the page is one, however quickly it is asked for, and stays where its reader put it', async () => {
  const manager = new JobManager(new FakeServer());
  const commands = new CommandRegistry();
  const shell = { add: jest.fn(), activateById: jest.fn() };
  const app = { name: 'JupyterLab', commands, shell } as unknown as JupyterFrontEnd;
  await clusterViewPlugin.activate(app, manager, null, null, null);
  await Promise.all([commands.execute(Commands.openCluster), commands.execute(Commands.openCluster)]);
  await commands.execute(Commands.openCluster);
  expect(shell.add).toHaveBeenCalledTimes(1);
  expect(shell.activateById).toHaveBeenCalledTimes(3);
  (shell.add.mock.calls as unknown as ReadonlyArray<readonly [ClusterPage]>)[0]![0].dispose();
  await commands.execute(Commands.openCluster);
  expect(shell.add).toHaveBeenCalledTimes(2);
  manager.dispose();
});
