import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import { nullTranslator } from '@jupyterlab/translation';
import { MessageLoop } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import { act, fireEvent, screen, within } from '@testing-library/react';

import { version } from '../../package.json';
import { JobManager } from '../manager';
import { JobsPanel } from '../panel';
import type { IDoors } from '../tokens';
import { FakeServer, job } from './fakes';

let server: FakeServer;
let manager: JobManager;
let panel: JobsPanel;
let doors: jest.Mocked<IDoors>;

const say = (message: object): Promise<void> => act(async () => server.socket.say(message));
const list = (): HTMLElement => screen.getByRole('treegrid', { name: 'Jobs' });
/** The rows of jobs, without the heads of their groups. */
const rows = (): HTMLElement[] => within(list()).getAllByRole('row').filter(row => row.dataset.job);

/** What a screen reader was told last. */
const spoken = (): string | null | undefined => panel.node.querySelector('.aiarts-Announcer')?.textContent;

/** Each text is somewhere in the element. */
const expectTexts = (element: HTMLElement | undefined, texts: ReadonlyArray<string>): void =>
  texts.forEach(text => expect(element?.textContent).toContain(text));

beforeEach(async () => {
  server = new FakeServer();
  manager = new JobManager(server);
  doors = { act: jest.fn(), menu: jest.fn(), open: jest.fn(), cluster: jest.fn(), newJob: jest.fn(), demo: jest.fn(), guide: jest.fn() };
  panel = new JobsPanel(manager, nullTranslator.load('jupyter_aiarts'), doors);
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

test('who calls the sidebar has the keys in the list, also when the first job is not drawn yet', async () => {
  const frames: FrameRequestCallback[] = [];
  const drawn = jest.spyOn(window, 'requestAnimationFrame').mockImplementation(frame => frames.push(frame));
  const picture = (): void => frames.splice(0).forEach(frame => frame(0));
  await say({ type: 'snapshot', jobs: [] });
  await act(async () => {
    panel.activate();
    MessageLoop.flush();
    server.socket.say({ type: 'jobs', jobs: [job('a')] });
    expect(screen.queryByRole('treegrid')).toBeNull();
    picture(); // one that was on its way
  });
  picture();
  expect(document.activeElement).toBe(list());
  expect(frames).toEqual([]);
  drawn.mockRestore();
});

test('a job shows its name, its phase in words and why', async () => {
  await say({
    type: 'snapshot',
    jobs: [job('a', { name: '训练 <b>', phase: 'queued', explanation: { code: 'queue-position', title: '2 jobs before it' } })]
  });
  expect(rows()).toHaveLength(1);
  expectTexts(rows()[0], ['训练 <b>', 'queued', '2 jobs before it']);
});

test('a job that says how far it is has a bar and its own words, and no bar where it says nothing', async () => {
  const progress = { text: 'Epoch 3/10 <b>', share: 0.3 };
  await say({ type: 'snapshot', jobs: [job('a', { progress }), job('b')] });
  const bar = screen.getByRole('progressbar', { name: 'How far job a says it is' });
  expect([bar.getAttribute('aria-valuenow'), bar.getAttribute('aria-valuetext')]).toEqual(['30', 'Epoch 3/10 <b>']);
  expectTexts(rows()[0], ['Epoch 3/10 <b> · local']);
});

test('a disk that fills up is in the strip with what is left, one with room is not', async () => {
  await say({ type: 'snapshot', jobs: [] });
  const disks = [
    { path: '/data/<b>', used: 95 * 2 ** 30, total: 100 * 2 ** 30 },
    { path: '/home', used: 5, total: 100 }
  ];
  await say({ type: 'usage', usage: { t: '2026-11-16T08:00:00Z', host: { disks }, devices: [], problems: [] } });
  const meters = within(screen.getByRole('group', { name: 'This machine' })).getAllByRole('meter');
  expect(meters.map(meter => [meter.getAttribute('aria-label'), meter.getAttribute('aria-valuetext')])).toEqual([
    ['Disk /data/<b>', '5.0 GB left']
  ]);
});

test('the strip has the last ten minutes as lines, which go on with every look, and none of it while it is hidden', async () => {
  const at = Date.parse('2026-11-16T08:00:00Z') / 1000;
  const look = (seconds: number, cpu: number | null): object => ({
    t: new Date((at + seconds) * 1000).toISOString(),
    host: { cpu, cpus: 4 },
    devices: [{ kind: 'npu', id: 0, part: null, utilization: 50 }],
    problems: []
  });
  const history = { times: [at - 4, at - 2], series: { cpu: [4, null], 'npu 0 utilization': [100, 0] } };
  server.answers = (path, { query }) => (path !== 'usage' ? null : query?.history ? { ...look(0, 2), history } : look(0, 2));
  await say({ type: 'snapshot', jobs: [] });
  await act(async () => panel.hide());
  await act(async () => panel.show());
  const strip = screen.getByRole('group', { name: 'This machine' });
  const lines = (): ReadonlyArray<string | null> => [...strip.querySelectorAll('svg path')].map(one => one.getAttribute('d'));
  expect(lines()).toEqual(['M57 0h.01M59 50h.01', '', 'M57 0L58 100L59 50']);
  expect(strip.querySelectorAll('svg[aria-hidden="true"]')).toHaveLength(3);
  await say({ type: 'usage', usage: look(2, 4) });
  expect(lines()[0]).toBe('M56 0h.01M58 50L59 0');
  const asked = server.asked.length;
  const before = strip.innerHTML;
  await act(async () => panel.hide());
  await say({ type: 'usage', usage: look(4, 1) });
  expect(server.asked).toHaveLength(asked);
  expect(strip.innerHTML).toBe(before);
});

test('cards of which nothing is told are not silently missing in the strip, and one that is ill is marked', async () => {
  await say({ type: 'snapshot', jobs: [] });
  const problem = { code: 'npu-smi-failed', title: 'npu-smi <b> cannot tell of the cards', why: 'Its driver <i>.', evidence: [], actions: [] };
  const usage = { t: '2026-11-16T08:00:00Z', host: { cpu: 1, cpus: 4 }, devices: [], problems: [problem] };
  await say({ type: 'usage', usage });
  const strip = (): HTMLElement => screen.getByRole('group', { name: 'This machine' });
  expect(within(strip()).getByText('npu-smi <b> cannot tell of the cards').title).toBe('Its driver <i>.');
  const card = (id: number, health: string | null, utilization: number | null): object => ({ kind: 'gpu', id, part: null, health, utilization });
  const devices = [card(0, 'xid 79', 40), card(1, 'gone', null), card(2, 'ok', 7), card(3, 'unknown', 8), card(4, null, 9)];
  await say({ type: 'usage', usage: { ...usage, devices, problems: [] } });
  expect(strip().textContent).not.toContain('npu-smi');
  const texts = [...strip().querySelectorAll('.aiarts-Meter-text')].map(one => one.textContent);
  expect(texts).toEqual(['1.0 / 4', '?', '40 % · xid 79', '? · gone', '7 %', '8 %', '9 %']);
  expect(within(strip()).getByRole('meter', { name: 'GPU 0' }).getAttribute('aria-valuetext')).toBe('40 % · xid 79');
});

test('an explanation that only repeats the phase is left out', async () => {
  await say({ type: 'snapshot', jobs: [job('a', { explanation: { code: 'running', title: 'Running' } })] });
  expect(rows()[0]?.textContent).not.toContain('Running');
});

test('a change of phase shows and is read out, the first picture is not', async () => {
  await say({ type: 'snapshot', jobs: [job('a', { name: 'train' })] });
  expect(spoken()).toBe('');
  await say({ type: 'jobs', jobs: [job('a', { name: 'train', phase: 'succeeded' })] });
  expectTexts(rows()[0], ['succeeded']);
  expect(spoken()).toBe('train is succeeded.');
});

test('a burst is read out as a count', async () => {
  await say({ type: 'snapshot', jobs: [] });
  await say({ type: 'jobs', jobs: ['a', 'b', 'c', 'd'].map(id => job(id)) });
  expect(spoken()).toBe('4 jobs changed.');
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

describe('the list', () => {
  const press = (key: string, init: object = {}): Promise<void> => act(async () => void fireEvent.keyDown(list(), { key, ...init }));
  const chosen = (): Array<string | undefined> =>
    rows().filter(row => row.getAttribute('aria-selected') === 'true').map(row => row.dataset.job);
  const ended = { phase: 'failed', moves: ['rerun', 'clone', 'edit', 'delete'] } as const;
  const three = [
    job('a', { moves: ['pause', 'stop', 'delete'] }),
    job('b', { ...ended, name: 'resnet', created: '2026-11-15T00:00:00Z' }),
    job('c', { ...ended, created: '2026-11-14T00:00:00Z' })
  ];

  test('ten thousand jobs are few rows in the page, and a screen reader hears how many there are', async () => {
    await say({ type: 'snapshot', jobs: Array.from({ length: 10_000 }, (_, index) => job(`j${index}`)) });
    expect(rows().length).toBeLessThan(200);
    expect(list().getAttribute('aria-rowcount')).toBe('10001');
  });

  test('jobs stand in groups by phase, which close and open', async () => {
    await say({ type: 'snapshot', jobs: three });
    const group = within(list()).getByRole('row', { name: /failed/, expanded: true });
    expectTexts(group, ['2']);
    await act(async () => group.click());
    expect(rows().map(row => row.dataset.job)).toEqual(['a']);
  });

  test('arrows move, Shift chooses a range, Space one more, Enter opens and Delete asks', async () => {
    await say({ type: 'snapshot', jobs: three });
    await press('ArrowDown');
    expect(chosen()).toEqual(['a']);
    expect(list().getAttribute('aria-activedescendant')).toBe('aiarts-row-a');
    await press('ArrowDown');
    await press('ArrowDown');
    await press('ArrowDown', { shiftKey: true });
    expect(chosen()).toEqual(['b', 'c']);
    await press(' ');
    expect(chosen()).toEqual(['b']);
    await press('Enter');
    expect(doors.open).toHaveBeenCalledWith(expect.objectContaining({ id: 'c' }));
    await press('a', { ctrlKey: true });
    expect(chosen()).toEqual(['a', 'b', 'c']);
    await press('Delete');
    expect(doors.act).toHaveBeenCalledWith('delete', expect.objectContaining({ length: 3 }));
    await press('Escape');
    expect(chosen()).toEqual([]);
  });

  test('all that is chosen is meant also while the keyboard is at the head of a group, where it is at first', async () => {
    await say({ type: 'snapshot', jobs: three });
    await press('Delete');
    await press('F10', { shiftKey: true });
    expect(doors.menu).not.toHaveBeenCalled();
    await press('a', { ctrlKey: true });
    await press('Delete');
    expect(doors.act.mock.lastCall?.[1].map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    await press('F10', { shiftKey: true });
    expect(doors.menu.mock.lastCall?.[0]).toHaveLength(3);
  });

  test('a filter whose last job has gone says what it still is, and can be taken back', async () => {
    const queues = [job('a', { spec: { ...three[0]!.spec, queue: 'night' } }), ...three.slice(1)];
    await say({ type: 'snapshot', jobs: queues });
    const choice = (name: string): HTMLSelectElement => screen.getByRole<HTMLSelectElement>('combobox', { name });
    const choose = (name: string, value: string): Promise<void> =>
      act(async () => void fireEvent.change(choice(name), { target: { value } }));
    await choose('Phase', 'running');
    await choose('Queue', 'night');
    await say({ type: 'removed', ids: ['a'] });
    expect([choice('Phase').value, choice('Queue').value]).toEqual(['running', 'night']);
    await choose('Phase', '');
    await choose('Queue', '');
    expect(rows().map(row => row.dataset.job)).toEqual(['b', 'c']);
    expect(screen.queryByRole('combobox', { name: 'Queue' })).toBeNull();
  });

  test('what is chosen together offers what any of it does, with how many', async () => {
    await say({ type: 'snapshot', jobs: three });
    await press('a', { ctrlKey: true });
    const bar = screen.getByRole('toolbar', { name: 'Chosen jobs' });
    expect(within(bar).getAllByRole('button').map(button => button.textContent)).toEqual([
      'Run again (2)',
      'Pause (1)',
      'Stop (1)',
      'Delete'
    ]);
  });

  test('a button of a row makes its move, and the menu key shows all of them', async () => {
    await say({ type: 'snapshot', jobs: three });
    await act(async () => within(rows()[0]!).getByRole('button', { name: 'Stop: job a' }).click());
    expect(doors.act).toHaveBeenCalledWith('stop', [expect.objectContaining({ id: 'a' })]);
    await press('ArrowDown');
    await press('ContextMenu');
    expect(doors.menu).toHaveBeenCalledWith([expect.objectContaining({ id: 'a' })], expect.any(Number), expect.any(Number));
  });

  test('a search narrows the list, says when nothing is left, and can be taken back', async () => {
    await say({ type: 'snapshot', jobs: three });
    const field = screen.getByRole('searchbox', { name: 'Search jobs' });
    await act(async () => void fireEvent.change(field, { target: { value: 'RESN' } }));
    expect(rows().map(row => row.dataset.job)).toEqual(['b']);
    await act(async () => void fireEvent.change(field, { target: { value: 'nowhere' } }));
    expectTexts(panel.node, ['None of the 3 jobs']);
    await act(async () => screen.getByRole('button', { name: 'Show all' }).click());
    expect(rows()).toHaveLength(3);
  });

  test('what goes out of sight is chosen no more: by a search, or with its group', async () => {
    await say({ type: 'snapshot', jobs: three });
    await press('a', { ctrlKey: true });
    expect(panel.selected).toHaveLength(3);
    const field = screen.getByRole('searchbox', { name: 'Search jobs' });
    await act(async () => void fireEvent.change(field, { target: { value: 'RESN' } }));
    expect(panel.selected).toEqual(['b']);
    await act(async () => void fireEvent.change(field, { target: { value: '' } }));
    await press('a', { ctrlKey: true });
    await press('Home');
    await press('a', { ctrlKey: true });
    await press('Enter');
    expect(panel.selected).not.toContain(three[0]!.id);
    expect(panel.selected).toHaveLength(2);
  });

  describe('what goes out of sight by itself is chosen no more', () => {
    const ended = job('a', { phase: 'succeeded', moves: ['delete'] });
    const wish = (showFinished: boolean): void => {
      const composite: Record<string, unknown> = { showFinished, density: 'compact' };
      const settings = { get: (key: string) => ({ composite: composite[key] }), changed: { connect: () => undefined } };
      act(() => panel.follow(settings as unknown as ISettingRegistry.ISettings));
    };
    const deleted = async (): Promise<ReadonlyArray<string>> => {
      await press('Delete');
      return (doors.act.mock.calls[0]?.[1] ?? []).map(({ id }) => id);
    };

    test('when it ends under a filter', async () => {
      await say({ type: 'snapshot', jobs: [...three, job('d', { moves: ['delete'] })] });
      const phase = screen.getByRole('combobox', { name: 'Phase' });
      await act(async () => void fireEvent.change(phase, { target: { value: 'running' } }));
      await press('a', { ctrlKey: true });
      await press('End');
      await press('a', { ctrlKey: true });
      await say({ type: 'jobs', jobs: [ended] });
      expect(panel.selected).toEqual(['d']);
      expect(await deleted()).toEqual(['d']);
      await act(async () => void fireEvent.change(phase, { target: { value: '' } }));
      expect(chosen()).toEqual(['d']);
    });

    test('when it moves into a folded group', async () => {
      await say({ type: 'snapshot', jobs: three });
      await act(async () => within(list()).getByRole('row', { name: /failed/, expanded: true }).click());
      await press('a', { ctrlKey: true });
      await say({ type: 'jobs', jobs: [job('a', { phase: 'failed', moves: ['delete'] })] });
      expect(panel.selected).toEqual([]);
      expect(await deleted()).toEqual([]);
    });

    test('when finished jobs are left out', async () => {
      await say({ type: 'snapshot', jobs: three });
      await press('a', { ctrlKey: true });
      await act(async () => wish(false));
      await say({ type: 'jobs', jobs: [three[0]!] });
      expect(panel.selected).toEqual(['a']);
    });
  });

  test('where a row has gone the keyboard is at the one in its place, and the menu opens there', async () => {
    await say({ type: 'snapshot', jobs: three });
    await press('End');
    await press('ArrowUp');
    expect(list().getAttribute('aria-activedescendant')).toBe('aiarts-row-b');
    await say({ type: 'removed', ids: ['b'] });
    expect(list().getAttribute('aria-activedescendant')).toBe('aiarts-row-c');
    const rect = { left: 100, bottom: 40 } as DOMRect;
    document.getElementById('aiarts-row-c')!.getBoundingClientRect = () => rect;
    await press('ContextMenu');
    expect(doors.menu).toHaveBeenCalledWith([expect.objectContaining({ id: 'c' })], 124, 40);
    await say({ type: 'jobs', jobs: [job('d')] });
    expect(list().getAttribute('aria-activedescendant')).toBe('aiarts-row-c');
    await say({ type: 'removed', ids: ['c'] });
    expect(list().getAttribute('aria-activedescendant')).toBe('aiarts-row-d');
  });

  test('somebody else’s jobs can be left out', async () => {
    server.said = { version, clusters: [{ name: 'local', owner: 'alice', staleSince: null }] };
    await say({ type: 'snapshot', jobs: [job('a'), job('b', { owner: 'bob' })] });
    await act(async () => screen.getByRole('checkbox', { name: 'Only mine' }).click());
    expect(rows().map(row => row.dataset.job)).toEqual(['a']);
  });

  test('an empty list explains itself and offers a demo', async () => {
    await say({ type: 'snapshot', jobs: [] });
    await act(async () => screen.getByRole('button', { name: 'Run a demo job' }).click());
    expect(doors.demo).toHaveBeenCalledTimes(1);
  });
});
