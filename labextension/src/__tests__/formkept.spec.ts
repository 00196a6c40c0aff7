import type { JupyterFrontEnd } from '@jupyterlab/application';
import { Notification, WidgetTracker } from '@jupyterlab/apputils';
import { nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { act } from '@testing-library/react';

import type { Job } from '../api';
import { readError } from '../errors';
import { argsOf, FormOpener, type FormPage } from '../form/opening';
import { JobManager } from '../manager';
import { FakeServer, job } from './fakes';

/** jsdom lays nothing out; JupyterLab's toolbars watch their size. */
globalThis.ResizeObserver = class {
  observe = (): void => undefined;
  unobserve = (): void => undefined;
  disconnect = (): void => undefined;
};

const trans = nullTranslator.load('jupyter_aiarts');
const whole = (spec: object): Job => ({ ...job('a', { name: 'old', phase: 'failed' }), spec }) as unknown as Job;

describe('a form that is kept for the next visit', () => {
  let server: FakeServer;
  let manager: JobManager;
  let tracker: WidgetTracker<FormPage>;
  let opener: FormOpener;

  beforeEach(() => {
    jest.useFakeTimers();
    Object.defineProperty(globalThis, 'crypto', { value: { getRandomValues: (all: Uint32Array) => all }, configurable: true });
    server = new FakeServer();
    manager = new JobManager(server);
    server.answers = (_, { query }) => (query?.dry_run ? { spec: {}, fits: true } : []);
    tracker = new WidgetTracker<FormPage>({ namespace: 'test-form' });
    const shell = { add: () => undefined, activateById: () => undefined };
    const app = { shell, commands: new CommandRegistry() } as unknown as JupyterFrontEnd;
    opener = new FormOpener(app, manager, trans, tracker);
  });

  afterEach(() => {
    manager.dispose();
    Notification.dismiss();
    jest.useRealTimers();
  });

  const open = async (args: Parameters<FormOpener['open']>[0]): Promise<FormPage> => {
    const before = new Set<FormPage>();
    tracker.forEach(page => before.add(page));
    await act(() => opener.open(args));
    return tracker.find(page => !before.has(page))!;
  };

  test('has the same name when it comes back, which no other form has', async () => {
    const [first, second] = [await open({ script: 'a.py' }), await open({ script: 'b.py' })];
    const again = await open(argsOf(second));
    expect(first.content.id).not.toBe(second.content.id);
    expect(again.content.id).toBe(second.content.id);
    act(() => [first, second, again].forEach(page => page.dispose()));
  });

  test('goes on with an edit where its reader was, on the job as it is by now, and keeps no secret', async () => {
    const answers = (spec: object) => (path: string) => (path === 'jobs/a' ? whole(spec) : path === 'cluster' ? null : []);
    server.answers = answers({ script: 'a.py', env: { A: '1' }, nodes: 1 });
    const first = await open({ id: 'a', how: 'edit' });
    const { after } = first.content.keptChange;
    first.content.resume({ before: after, after: { ...after, texts: { ...after.texts, name: 'new' }, secret_env: [{ name: 'T', value: 'hush' }] } });
    const kept = argsOf(first);
    expect(JSON.stringify(kept)).not.toContain('hush');
    server.answers = answers({ script: 'a.py', env: { A: '2' }, nodes: 2 });
    const again = await open(kept);
    expect(again.content.kept).toMatchObject({ name: 'new', script: 'a.py', nodes: 2, env: { A: '2' }, secret_env: { T: '' } });
    act(() => [first, again].forEach(page => page.dispose()));
  });

  test('is forgotten when its job was deleted: whoever brings it back hears of it', async () => {
    server.answers = () => {
      throw readError(404, '{"code":"job-not-found","message":"There is no job a.","hint":""}');
    };
    await expect(opener.open({ id: 'a', how: 'edit', key: 'k' })).rejects.toThrow('There is no job a.');
    await expect(opener.open({ id: 'a', how: 'edit' })).resolves.toBeUndefined();
  });

  test('is kept while the server does not answer', async () => {
    server.answers = () => {
      throw readError(503, '{"code":"away","message":"Away.","hint":""}');
    };
    await expect(opener.open({ id: 'a', how: 'edit', key: 'k' })).resolves.toBeUndefined();
  });
});
