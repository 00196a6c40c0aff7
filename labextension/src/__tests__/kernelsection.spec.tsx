import { nullTranslator } from '@jupyterlab/translation';
import { act, fireEvent, render, screen, within } from '@testing-library/react';
import React from 'react';

import type { ShownKernel } from '../api';
import { ApiError } from '../errors';
import { KernelSection } from '../kernels';
import { JobManager } from '../manager';
import type { IDoors, IRequest } from '../tokens';
import { FakeServer } from './fakes';

const LACKING = { code: 'ipykernel-missing', title: 'ipykernel is missing.', why: 'Without it no kernel starts.' };

let server: FakeServer;
let manager: JobManager;
let doors: jest.Mocked<IDoors>;
let found: ReadonlyArray<ShownKernel>;

function kernel(name: string, changes: Partial<ShownKernel> = {}): ShownKernel {
  const path = `/opt/envs/${name}`;
  return { name, path, kind: 'conda', owner: 'alice', python: '3.11.4', registered: null, display_name: `${name} (conda)`, ...changes };
}

const row = (name: string): HTMLElement => screen.getByText(`${name} (conda)`).closest('li')!;
const press = (name: string, label: string): Promise<void> =>
  act(async () => void fireEvent.click(within(row(name)).getByRole('button', { name: label, hidden: true })));
const asked = (): ReadonlyArray<unknown> =>
  server.asked.filter(({ path }) => path !== 'kernels').map(({ path, request }) => [path, request.body]);
const said = (): string => document.querySelector('.aiarts-Kernels-said')!.textContent!;

beforeEach(() => {
  server = new FakeServer();
  found = [kernel('训练 <b>'), kernel('taken', { registered: 'global', spec: 'aiarts-taken-1' })];
  server.answers = path => (path === 'kernels' ? found : null);
  manager = new JobManager(server);
  doors = { act: jest.fn(), menu: jest.fn(), open: jest.fn(), cluster: jest.fn(), newJob: jest.fn(), demo: jest.fn(), guide: jest.fn() };
  render(<KernelSection manager={manager} trans={nullTranslator.load('jupyter_aiarts')} doors={doors} />);
});

afterEach(() => manager.dispose());

async function open(): Promise<void> {
  await act(async () => {
    const details = document.querySelector<HTMLDetailsElement>('.aiarts-Kernels')!;
    details.open = true;
    fireEvent(details, new Event('toggle'));
  });
}

test('nothing is asked before it is opened, and news are looked at while it is open', async () => {
  expect(server.asked).toEqual([]);
  await open();
  expect(server.asked.map(({ path }) => path)).toEqual(['kernels']);
  found = [kernel('new')];
  await act(async () => server.socket.say({ type: 'kernels' }));
  expect(row('new')).toBeTruthy();
});

test('while it is open the server is asked now and then, so that it goes on telling; not when closed or out of sight', async () => {
  jest.useFakeTimers();
  const hidden = jest.spyOn(document, 'hidden', 'get').mockReturnValue(false);
  const later = (): Promise<void> => act(async () => void (await jest.advanceTimersByTimeAsync(50_000)));
  try {
    await open();
    await later();
    expect(server.asked.map(({ path, request }) => [path, request.query])).toEqual([
      ['kernels', { no_track_activity: '1' }],
      ['kernels', { no_track_activity: '1' }]
    ]);
    hidden.mockReturnValue(true);
    await later();
    hidden.mockReturnValue(false);
    await act(async () => {
      document.querySelector<HTMLDetailsElement>('.aiarts-Kernels')!.open = false;
      fireEvent(document.querySelector('.aiarts-Kernels')!, new Event('toggle'));
    });
    await later();
    expect(server.asked).toHaveLength(2);
  } finally {
    hidden.mockRestore();
    jest.useRealTimers();
  }
});

test('a venv that nothing names is made a kernel by its folder, and stays in the field when that is refused', async () => {
  await open();
  const field = screen.getByRole<HTMLInputElement>('textbox', { name: /folder of a venv/i, hidden: true });
  const form = within(field.closest('form')!);
  const add = (label: string): Promise<void> =>
    act(async () => void fireEvent.click(form.getByRole('button', { name: label, hidden: true })));
  await add('Register for me'); // nothing is named yet
  fireEvent.change(field, { target: { value: ' /home/me/my venv ' } });
  await add('Register for me');
  expect(asked()).toEqual([['kernels/register', { which: '/home/me/my venv', scope: 'user' }]]);
  expect(field.value).toBe('');
  server.answers = path => {
    if (path === 'kernels') {
      return found;
    }
    throw new ApiError(404, { code: 'not-found', message: 'No environment is there.', hint: '' });
  };
  fireEvent.change(field, { target: { value: '/nowhere' } });
  await add('Register for everybody');
  expect([said(), field.value]).toEqual(['No environment is there.', '/nowhere']);
});

test.each([
  [true, 'taken takes 3.0 GB in 41 files.'],
  [false, 'taken takes more than 3.0 GB: there are more than 41 files, and not all were looked at.']
])('how large one is (all seen: %s)', async (complete, words) => {
  await open();
  server.answers = path => (path === 'kernels' ? found : { path: '/opt/envs/taken', bytes: 3 * 1024 ** 3, files: 41, complete });
  await press('taken', 'Size');
  expect([asked(), said()]).toEqual([[['kernels/size', { which: '/opt/envs/taken' }]], words]);
});

test('what can be done is told in words, also where no command does it', async () => {
  const actions = [
    { id: 'a', label: 'Install Python again' },
    { id: 'b', label: 'Or remove it', command: "aiarts kernels unregister 'x y'" }
  ];
  found = [kernel('broken', { problems: [{ ...LACKING, code: 'python-gone', actions }] })];
  await open();
  expect(row('broken').querySelector('.aiarts-Kernels-why')!.textContent).toBe(
    "Without it no kernel starts.Install Python againOr remove itaiarts kernels unregister 'x y'"
  );
});

test('an environment is registered for whom was pressed, a kernel is unregistered, a job is begun with it', async () => {
  await open();
  await press('训练 <b>', 'Register for me');
  await press('训练 <b>', 'Register for everybody');
  await press('taken', 'Unregister');
  expect(asked()).toEqual([
    ['kernels/register', { which: '/opt/envs/训练 <b>', scope: 'user' }],
    ['kernels/register', { which: '/opt/envs/训练 <b>', scope: 'global' }],
    ['kernels/unregister', { which: '/opt/envs/taken' }]
  ]);
  await press('taken', 'Train with it…');
  expect(doors.newJob).toHaveBeenCalledWith({ environment: '/opt/envs/taken' });
});

test('a refusal is told with what an admin can do', async () => {
  await open();
  const hint = 'An admin can: sudo aiarts kernels register /opt/envs/x';
  server.answers = path => {
    if (path === 'kernels') {
      return found;
    }
    throw new ApiError(403, { code: 'not-allowed', message: 'It cannot be written.', hint });
  };
  await press('训练 <b>', 'Register for everybody');
  expect(said()).toBe(`It cannot be written. ${hint}`);
});

/** Answers with a body that the test writes. */
function speaking(): { say(line: object): Promise<void>; breakOff(error: unknown): Promise<void>; request(): IRequest } {
  let told: (piece: { done: boolean; value?: Uint8Array }) => void = () => undefined;
  let broken: (error: unknown) => void = () => undefined;
  let asked: IRequest = {};
  const read = (): Promise<unknown> => new Promise((resolve, reject) => ([told, broken] = [resolve, reject]));
  server.fetch = async (path, request = {}) => {
    asked = request;
    server.asked.push({ path, request });
    return { body: { getReader: () => ({ read, cancel: () => Promise.resolve() }) } } as unknown as Response;
  };
  return {
    say: line => {
      const bytes = Uint8Array.from(`${JSON.stringify(line)}\n`, letter => letter.charCodeAt(0)); // ASCII, all of it
      return act(async () => told({ done: false, value: bytes }));
    },
    breakOff: error => act(async () => broken(error)),
    request: () => asked
  };
}

test('installing tells line by line, can be given up, and says when it fails', async () => {
  found = [kernel('bare', { problems: [LACKING] })];
  const body = speaking();
  await open();
  await press('bare', 'Install ipykernel');
  await body.say({ line: 'Downloading ipykernel (114 kB)' });
  expect(within(row('bare')).getByRole('status', { hidden: true }).textContent).toContain('Downloading ipykernel');
  await press('bare', 'Cancel');
  expect(body.request().signal!.aborted).toBe(true);
  await body.breakOff(new DOMException('given up', 'AbortError'));
  expect(said()).toBe('bare: given up.');

  await press('bare', 'Install ipykernel');
  await body.say({ error: { code: 'bad-request', message: 'No network.', hint: 'What was tried: pip install ipykernel' } });
  expect(said()).toBe('No network. What was tried: pip install ipykernel');
});

test('what its own Python says is shown in its place', async () => {
  await open();
  const problem = { code: 'library-missing', title: 'libGL.so.1 is missing.', why: 'cv2 needs it.', evidence: ['libGL.so.1: no'] };
  server.answers = path => (path === 'kernels' ? found : { ...found[1], problems: [problem] });
  await press('taken', 'Examine');
  expect(asked()).toEqual([['kernels/doctor', { which: 'aiarts-taken-1' }]]);
  expect(row('taken').textContent).toContain('cv2 needs it.');
  server.answers = path => (path === 'kernels' ? found : { ...found[1], problems: [] });
  await press('taken', 'Examine');
  expect(said()).toContain('Nothing is wrong with taken: its Python starts');
  server.answers = path => (path === 'kernels' ? found : { ...found[1], problems: [], kernels: ['ir'] });
  await press('taken', 'Examine');
  expect(said()).toContain('Nothing is wrong with taken: the programs of its own kernels');
});

test('a kernel without its environment is removed by its own name', async () => {
  found = [kernel('left', { kind: 'gone', registered: 'user', spec: 'aiarts-left-2', python: null, problems: [{ ...LACKING, code: 'environment-gone' }] })];
  await open();
  await press('left', 'Remove the kernel');
  expect(asked()).toEqual([['kernels/repair', { which: 'aiarts-left-2' }]]);
});

const LEFT: ReadonlyArray<[string, string, ReadonlyArray<string>]> = [
  ['gone', 'gone', ['kernels/repair']],
  ['unmarked', 'no environment', ['kernels/unregister']],
  ['hidden', 'not for you to see', []]
];

test.each(LEFT)('a kernel whose environment is %s is called that, and has a button only where it does something', async (kind, state, acts) => {
  found = [kernel('left', { kind, registered: 'global', spec: 'aiarts-left-2', python: null, problems: [{ ...LACKING, code: 'environment-gone' }] })];
  await open();
  expect(within(row('left')).getByText(state)).toBeTruthy();
  const buttons = within(row('left')).queryAllByRole('button', { hidden: true });
  expect(buttons.map(({ textContent }) => textContent)).toEqual(acts.map(() => 'Remove the kernel'));
  await act(async () => buttons.forEach(button => void fireEvent.click(button)));
  expect(asked()).toEqual(acts.map(path => [path, { which: 'aiarts-left-2' }]));
});

const LATER: ReadonlyArray<[string, Partial<ShownKernel>, string]> = [
  ['registered from elsewhere', { registered: 'user', spec: 'aiarts-a-1' }, 'for you'],
  ['removed', { kind: 'gone', registered: 'user', spec: 'aiarts-a-1', python: null }, 'gone'],
  ['mended', { problems: [{ ...LACKING, title: 'Another thing.' }] }, 'Another thing.']
];

test.each(LATER)('what was examined is shown as it is now once it was %s', async (_, changes, words) => {
  found = [kernel('a', { problems: [LACKING] })];
  await open();
  const problem = { code: 'library-missing', title: 'libGL.so.1 is missing.', why: 'cv2 needs it.' };
  server.answers = path => (path === 'kernels' ? found : { ...found[0], problems: [problem] });
  await press('a', 'Examine');
  await act(async () => server.socket.say({ type: 'kernels' }));
  expect(row('a').textContent).toContain('cv2 needs it.');
  found = [kernel('a', { problems: [LACKING], ...changes })];
  await act(async () => server.socket.say({ type: 'kernels' }));
  expect(row('a').textContent).not.toContain('cv2 needs it.');
  expect(row('a').textContent).toContain(words);
});

test('among many, words find one by its name, its folder or what it has', async () => {
  found = Array.from({ length: 200 }, (_, number) => kernel(`env-${number}`, number === 7 ? { frameworks: { torch: '2.3.1' } } : {}));
  await open();
  fireEvent.change(screen.getByRole('searchbox', { name: 'Find an environment', hidden: true }), { target: { value: 'TORCH env' } });
  expect(document.querySelectorAll('.aiarts-Kernels li')).toHaveLength(1);
});
