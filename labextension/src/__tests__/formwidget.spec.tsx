import { Notification } from '@jupyterlab/apputils';
import { nullTranslator } from '@jupyterlab/translation';
import { MessageLoop } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import { act, fireEvent, screen } from '@testing-library/react';

import type { Job, JobRequest } from '../api';
import { readError, Unanswered } from '../errors';
import { SOONEST } from '../form/fresh';
import { REST } from '../form/trial';
import { FormWidget } from '../form/widget';
import { JobManager } from '../manager';
import type { IRequest } from '../tokens';
import { FakeServer, job } from './fakes';

/** jsdom lays nothing out; JupyterLab's toolbars watch their size. */
globalThis.ResizeObserver = class {
  observe = (): void => undefined;
  unobserve = (): void => undefined;
  disconnect = (): void => undefined;
};

const trans = nullTranslator.load('jupyter_aiarts');

let server: FakeServer;
let manager: JobManager;
let widget: FormWidget | null;

/** The requests that change something, with what was sent. */
const sent = (): ReadonlyArray<IRequest> =>
  server.asked.map(({ request }) => request).filter(({ method, query }) => method !== undefined && !query?.dry_run);
const settle = (time = 0): Promise<void> =>
  act(async () => {
    MessageLoop.flush();
    await jest.advanceTimersByTimeAsync(time);
    MessageLoop.flush();
    await jest.advanceTimersByTimeAsync(0);
  });
const whole = (spec: object): Job => ({ ...job('a', { name: 'old', phase: 'failed' }), spec }) as unknown as Job;

async function show(spec: JobRequest, edited: Job | null = null): Promise<FormWidget> {
  const made = new FormWidget(manager, trans, spec, edited);
  widget = made;
  act(() => Widget.attach(made, document.body));
  await settle(REST);
  return made;
}

async function write(label: string, value: string): Promise<void> {
  fireEvent.change(screen.getByLabelText(label), { target: { value } });
  await settle(REST);
}

async function press(name: string): Promise<void> {
  fireEvent.click(screen.getByRole('button', { name }));
  await settle();
}

beforeEach(() => {
  jest.useFakeTimers();
  Object.defineProperty(globalThis, 'crypto', { value: { getRandomValues: (all: Uint32Array) => all }, configurable: true });
  server = new FakeServer();
  manager = new JobManager(server);
  widget = null;
  server.answers = (path, { method, query }) => {
    if (method === undefined) {
      return path === 'cluster' ? { clusters: [], nodes: [] } : [];
    }
    return query?.dry_run ? { spec: {}, fits: true } : job('a', { name: 'old' });
  };
});

afterEach(() => {
  act(() => {
    widget?.dispose();
    MessageLoop.flush();
  });
  manager.dispose();
  Notification.dismiss();
  jest.useRealTimers();
});

test.each([null, 'Nodes'])('whoever opens the form goes on in its first field, or where they write by then (%s)', async label => {
  const made = new FormWidget(manager, trans, {}, null);
  widget = made;
  act(() => {
    Widget.attach(made, document.body);
    made.activate();
    MessageLoop.flush();
  });
  if (label !== null) {
    screen.getByLabelText(label).focus(); // quicker than the page, which is busy
  }
  await settle(REST);
  expect(document.activeElement).toBe(screen.getByLabelText(label ?? 'Start file'));
});

test('a name that is emptied to be written anew stays where it is, and its neighbours too', async () => {
  await show({ script: 'a.py', params: { amp: null, lr: '0.1' } });
  const field = screen.getByLabelText('Parameters 1: name');
  await write('Parameters 1: name', '');
  expect(screen.getByLabelText('Parameters 1: name')).toBe(field);
  expect(screen.getByLabelText<HTMLInputElement>('Parameters 2: name').value).toBe('lr');
  await write('Parameters 1: name', 'bf16');
  expect(widget!.kept.params).toEqual({ bf16: null, lr: '0.1' });
  await write('Parameters 2: value', '');
  await write('Parameters 2: name', '');
  await write('Parameters 1: name', '');
  expect([screen.queryByLabelText('Parameters 2: name'), widget!.kept.params]).toEqual([null, undefined]);
});

describe('an edit', () => {
  const spec = { script: 'a.py', params: { amp: 'true', lr: '0.1', quiet: null } };

  test('whose parameter would be dropped by the server is not sent, and says so beside the table', async () => {
    await show(spec, whole(spec));
    await write('Parameters 1: value', '');
    expect(screen.getByRole('group', { name: 'Parameters' }).textContent).toContain('amp: a parameter without a value');
    await press('Save');
    expect(sent()).toEqual([]);
    expect(screen.getByRole('alert').textContent).toContain('amp: a parameter without a value');
  });

  test('says it of a new parameter, too', async () => {
    await show(spec, whole(spec));
    await write('Parameters 4: name', 'fast');
    await press('Save');
    expect(sent()).toEqual([]);
    await write('Parameters 4: value', '1');
    await press('Save');
    expect(sent().map(({ body }) => body)).toEqual([{ params: { fast: '1' } }]);
  });

  test('leaves alone a parameter that had no value before', async () => {
    await show(spec, whole(spec));
    await write('Parameters 2: value', '0.2');
    await press('Save');
    expect(sent().map(({ body }) => body)).toEqual([{ params: { lr: '0.2' } }]);
  });
});

describe('a secret without a value', () => {
  const tried = (): unknown => server.asked.filter(({ request }) => request.query?.dry_run).pop()?.request.body;

  test('is asked for in a new job, in the trial and when it is submitted: an empty text is not meant', async () => {
    await show({ script: 'a.py', secret_env: { TOKEN: '' } });
    expect(tried()).toEqual({ script: 'a.py', secret_env: { TOKEN: null } });
    await press('Submit');
    expect(sent().map(({ body }) => (body as JobRequest).secret_env)).toEqual([{ TOKEN: null }]);
  });

  test('is still asked for after a reload: its name is kept, what was written is not', async () => {
    const { kept } = await show({ script: 'a.py', secret_env: { TOKEN: 'hush', OTHER: '' } });
    expect(kept).toEqual({ script: 'a.py', secret_env: { TOKEN: '', OTHER: '' } });
  });

  test('is the one that the server has in an edit', async () => {
    const spec = { script: 'a.py', secret_env: { TOKEN: '' } };
    await show(spec, whole(spec));
    expect(tried()).toEqual({ script: 'a.py' });
  });
});

describe('what is folded away', () => {
  const advanced = (): HTMLDetailsElement => document.querySelector<HTMLDetailsElement>('.aiarts-Form-advanced')!;
  const refuse = (key: string): void => {
    const text = JSON.stringify({ code: 'invalid-spec', message: 'No', problems: [{ key, message: 'less' }] });
    const { answers } = server;
    server.answers = (path, request) => {
      if (request.query?.dry_run) {
        throw readError(400, text);
      }
      return answers(path, request);
    };
  };

  test('is unfolded by trouble and stays so when the trouble ends: hands may be in it', async () => {
    const { answers } = server;
    await show({ script: 'a.py' });
    expect(advanced().open).toBe(false);
    refuse('cpu');
    await write('CPUs per node', 'abc');
    expect(advanced().open).toBe(true);
    server.answers = answers;
    await write('CPUs per node', '2');
    expect(advanced().open).toBe(true);
  });

  test('is unfolded for a secret that is asked for', async () => {
    refuse('secret_env.TOKEN');
    await show({ script: 'a.py', secret_env: { TOKEN: '' } });
    expect(advanced().open).toBe(true);
  });

  test('is folded and unfolded by its reader', async () => {
    await show({ script: 'a.py' });
    advanced().open = true;
    await act(async () => void fireEvent(advanced(), new Event('toggle')));
    await write('Start file', 'b.py');
    expect(advanced().open).toBe(true);
  });
});

describe('a choice', () => {
  const options = (label: string): ReadonlyArray<string | null> =>
    [...(screen.getByLabelText(label) as HTMLSelectElement).options].map(option => option.textContent);
  const queue = (name: string, cluster: string): object => ({ name, cluster, kind: 'kueue', quota: {}, used: {}, pending: 0 });

  test('that is not offered is shown as what it is, so that another can be taken', async () => {
    const { answers } = server;
    server.answers = (path, request) => (path === 'queues' ? [queue('red', 'b')] : answers(path, request));
    await show({ script: 'a.py', cluster: 'b', queue: 'team-a' });
    expect(screen.getByLabelText<HTMLSelectElement>('Queue').value).toBe('team-a');
    expect(options('Queue')).toEqual(['', 'red', 'team-a']);
  });

  test('is no default: what the server would take without it is said, not what it took', async () => {
    const { answers } = server;
    const taken = (body: unknown): object => ({ cluster: 'local', device: 'cpu', ...(body as object) });
    server.answers = (path, request) =>
      request.query?.dry_run ? { spec: taken(request.body), fits: true } : answers(path, request);
    await show({ script: 'a.py', device: 'npu' });
    expect(options('Device')).toEqual(['cpu (default)', 'cpu', 'npu']);
  });

  describe('of devices', () => {
    const usual = ['nvidia_gpu_amd64', 'huawei_npu_arm64', 'huawei_npu_amd64'];
    const at = (name: string, device: string | null): object => ({ cluster: name, name: 'n', ready: true, device, cards: 8, free: 8 });
    const answer = (fits: object | null, nodes: ReadonlyArray<object>): void => {
      const { answers } = server;
      const clusters = [{ name: 'prod', at: '', fits, unknown: [] }];
      server.answers = (path, request) => (path === 'cluster' ? { clusters, nodes, fits } : answers(path, request));
    };

    test.each([
      ['nobody may see its nodes', null, [], ['cpu', ...usual]],
      ['only one’s own pods are seen on them', null, [at('prod', 'tpu')], ['cpu', 'tpu', ...usual]],
      ['they are not listed yet', {}, [], ['cpu', ...usual]],
      ['all of them are seen', {}, [at('prod', 'huawei_npu_arm64')], ['cpu', 'huawei_npu_arm64']]
    ])('of a cluster can be taken where %s', async (_, fits, nodes, found) => {
      answer(fits, nodes);
      await show({ script: 'a.py', cluster: 'prod' });
      expect(options('Device').slice(1)).toEqual(found);
    });

    test('can be taken where the cluster does not answer', async () => {
      await show({ script: 'a.py', cluster: 'prod' });
      expect(options('Device').slice(1)).toEqual(['cpu', ...usual]);
    });

    test('of this machine are those that it has', async () => {
      await show({ script: 'a.py' });
      expect(options('Device').slice(1)).toEqual(['cpu']);
    });
  });

  test('of a cluster has no defaults of another', async () => {
    const defaults = { spec: { cluster: 'local', cpu: 7 }, fits: true };
    server.answers = (path, { query }) => (query?.dry_run ? defaults : path === 'cluster' ? null : []);
    await show({});
    const cpus = screen.getByLabelText<HTMLInputElement>('CPUs per node');
    expect(cpus.placeholder).toBe('7');
    server.socket.say({ type: 'health', clusters: ['local', 'prod'].map(name => ({ name, owner: null, stale_since: null })) });
    await settle();
    await write('Cluster', 'prod');
    expect([screen.getByLabelText<HTMLSelectElement>('Cluster').value, cpus.placeholder]).toEqual(['prod', '']);
  });

  test('of clusters grows when the server tells of them', async () => {
    await show({ script: 'a.py', cluster: 'prod' });
    expect(options('Cluster')).toEqual(['', 'local', 'prod']);
    const clusters = ['local', 'prod', 'lab'].map(name => ({ name, owner: null, stale_since: null }));
    server.socket.say({ type: 'health', clusters });
    await settle();
    expect(options('Cluster')).toEqual(['', 'local', 'prod', 'lab']);
  });
});

describe('what fits now', () => {
  const looks = (path = 'cluster'): number => server.asked.filter(one => one.path === path).length;
  const cards = (free: number): object => {
    const fits = { huawei_npu_arm64: { 1: free } };
    const node = { cluster: 'local', name: 'n', ready: true, device: 'huawei_npu_arm64', cards: 8, free };
    return { clusters: [{ name: 'local', at: '', fits, unknown: [] }], nodes: [node], fits };
  };
  let page: unknown;
  const say = (message: object): void => act(() => server.socket.say(message));
  const aside = (): string | null => screen.getByLabelText('Cards per node').closest('.aiarts-Field')!.textContent;

  beforeEach(() => {
    page = cards(1);
    const { answers } = server;
    server.answers = (path, request) => {
      if (path === 'cluster' && page instanceof Error) {
        throw page;
      }
      return path === 'cluster' ? page : answers(path, request);
    };
    server.socket.say({ type: 'snapshot', jobs: [job('a')] });
  });

  afterEach(() => jest.restoreAllMocks());

  test('is asked again once after a burst of jobs that take cards or give them back', async () => {
    await show({ script: 'a.py', device: 'huawei_npu_arm64' });
    await write('Name', 'mine');
    expect(looks()).toBe(1);
    page = cards(6);
    say({ type: 'jobs', jobs: [job('a', { phase: 'succeeded' })] });
    say({ type: 'jobs', jobs: [job('b', { phase: 'starting' })] });
    say({ type: 'jobs', jobs: [job('b')] });
    await settle(SOONEST);
    expect([looks(), looks('queues')]).toEqual([2, 2]);
    expect(aside()).toContain('6 × 1');
    expect(screen.getByLabelText<HTMLInputElement>('Name').value).toBe('mine');
  });

  test('and what would happen to the job is told anew, the old answer standing until then', async () => {
    await show({ script: 'a.py', device: 'huawei_npu_arm64' });
    const said = (): string => screen.getByLabelText('What would happen').textContent ?? '';
    expect(said()).toContain('It would start at once');
    const { answers } = server;
    const explanation = { code: 'no-node-fits', title: 'No node has a card free', why: 'All are held.', evidence: [], actions: [] };
    server.answers = (path, request) =>
      request.query?.dry_run ? { spec: {}, fits: false, explanation } : answers(path, request);
    say({ type: 'jobs', jobs: [job('b', { phase: 'starting' })] });
    expect(said()).toContain('It would start at once');
    await settle(SOONEST);
    expect(said()).toContain('No node has a card free');
  });

  test('stands beside the nodes, too: how many have so many cards free', async () => {
    const node = (name: string, free: number | null, ready = true): object => ({ cluster: 'lab', name, ready, device: 'npu', cards: 8, free });
    const machines = (nodes: object[]): object => ({ clusters: [{ name: 'lab', at: '', fits: {}, unknown: [] }], nodes, fits: {} });
    const beside = (): string => screen.getByLabelText('Nodes').closest('.aiarts-Field')!.textContent ?? '';
    page = machines([node('a', 8), node('b', 3), node('c', 8, false)]);
    await show({ script: 'a.py', cluster: 'lab', device: 'npu' });
    for (const [cards, said] of [['4', 'Nodes with 4 free cards now: 1 of 3'], ['2', 'Nodes with 2 free cards now: 2 of 3']] as const) {
      await write('Cards per node', cards);
      expect(beside()).toContain(said);
    }
    page = machines([node('a', 8), node('b', null)]);
    say({ type: 'jobs', jobs: [job('a', { phase: 'succeeded' })] });
    await settle(SOONEST);
    expect(beside()).not.toContain('free cards'); // what may not be seen is no guess
  });

  test('is not asked while nobody takes or gives back anything', async () => {
    await show({ script: 'a.py' });
    say({ type: 'jobs', jobs: [job('a', { name: 'other' }), job('q', { phase: 'queued' })] });
    await settle(10 * SOONEST);
    expect(looks()).toBe(1);
  });

  test('is asked when the server or a cluster is there again, also where nobody could be asked at first', async () => {
    page = new Unanswered('down');
    jest.spyOn(console, 'warn').mockImplementation();
    await show({ script: 'a.py', device: 'huawei_npu_arm64' });
    expect(aside()).not.toContain('Fits now');
    page = cards(2);
    say({ type: 'snapshot', jobs: [job('a')] });
    await settle(SOONEST);
    expect(aside()).toContain('2 × 1');
    act(() => server.socket.hangUp());
    await settle(SOONEST);
    const before = looks();
    say({ type: 'snapshot', jobs: [job('a')] });
    await settle(SOONEST);
    expect(looks()).toBe(before + 1);
    const clusters = (since: string | null): object => [{ name: 'lab', owner: null, stale_since: since }];
    say({ type: 'health', clusters: clusters('2026-11-16T01:02:03Z') });
    await settle(SOONEST);
    say({ type: 'health', clusters: clusters(null) });
    await settle(SOONEST);
    expect(looks()).toBe(before + 3);
  });

  test('is not asked while nobody looks, and at once when somebody looks again', async () => {
    const form = await show({ script: 'a.py' });
    act(() => form.hide());
    say({ type: 'removed', ids: ['a'] });
    await settle(SOONEST);
    expect(looks()).toBe(1);
    act(() => form.show());
    await settle();
    expect(looks()).toBe(2);
    await settle(SOONEST);
    expect(looks()).toBe(2);
  });

  test('is not asked by a form that has gone', async () => {
    const form = await show({ script: 'a.py' });
    say({ type: 'removed', ids: ['a'] });
    act(() => form.dispose());
    await settle(SOONEST);
    expect([looks(), jest.getTimerCount()]).toEqual([1, 0]);
  });

  test('that cannot be had again leaves the lists as they are', async () => {
    const { answers } = server;
    const queue = { name: 'red', cluster: 'b', kind: 'kueue', quota: {}, used: {}, pending: 0 };
    server.answers = (path, request) => (path === 'queues' ? [queue] : answers(path, request));
    await show({ script: 'a.py', cluster: 'b' });
    server.answers = (path, request) => {
      if (path === 'queues') {
        throw new Unanswered('down');
      }
      return answers(path, request);
    };
    say({ type: 'removed', ids: ['a'] });
    await settle(SOONEST);
    expect([...screen.getByLabelText<HTMLSelectElement>('Queue').options].map(({ value }) => value)).toEqual(['', 'red']);
  });
});
