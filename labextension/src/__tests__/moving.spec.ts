import { nullTranslator } from '@jupyterlab/translation';

import { readError, Unanswered } from '../errors';
import { JobManager } from '../manager';
import { type IQuestion, type IRoom, Mover, offered } from '../moving';
import type { IJob } from '../wire';
import { FakeServer, job } from './fakes';

let server: FakeServer;
let manager: JobManager;
let mover: Mover;
let says: boolean;
let asked: IQuestion[];
let told: string[];
let formed: string[];
let room: { -readonly [key in keyof IRoom]: IRoom[key] };

const running = job('a', { name: 'train', moves: ['pause', 'stop', 'delete'] });
const ended = job('b', { name: 'old', phase: 'failed', moves: ['rerun', 'clone', 'edit', 'delete'] });
const paths = (): string[] => server.asked.map(({ path, request }) => `${request.method ?? 'GET'} ${path}`);

beforeEach(() => {
  server = new FakeServer();
  manager = new JobManager(server);
  server.socket.say({ type: 'snapshot', jobs: [running, ended] });
  server.answers = path => ({ ...job('a'), run: 2, spec: path === 'jobs/a' ? { output_path: '/data/out' } : {} });
  [says, asked, told, formed] = [true, [], [], []];
  room = {
    ask: async question => (asked.push(question), says),
    tell: (text, kind) => void told.push(`${kind}: ${text}`),
    form: (one: IJob, how) => void formed.push(`${how} ${one.id}`),
    copy: text => void told.push(`copied: ${text}`),
    asksOften: true
  };
  mover = new Mover(manager, nullTranslator.load('jupyter_aiarts'), room);
});

afterEach(() => manager.dispose());

test('what is offered comes from the server; the form takes one job at a time', () => {
  expect(offered([running])).toEqual(['pause', 'stop', 'delete']);
  expect(offered([running, ended])).toEqual(['rerun', 'pause', 'stop', 'delete']);
});

test('a stop is asked for, done and told; a no does nothing', async () => {
  says = false;
  await mover.move('stop', [running]);
  expect([asked.map(one => one.title), paths(), told]).toEqual([['Stop “train”?'], [], []]);
  says = true;
  await mover.move('stop', [running]);
  expect([paths(), told]).toEqual([['POST jobs/a/stop'], ['success: Stopped “train”']]);
});

test('a pause says that a checkpoint is needed, and where', async () => {
  await mover.move('pause', [running]);
  expect(asked[0]?.lines.join(' ')).toMatch(/checkpoint.*\/data\/out.*SAVE_PATH/);
});

test('a pause is asked for also when the server cannot say where checkpoints are', async () => {
  server.answers = () => {
    throw readError(500, '');
  };
  await mover.move('pause', [running]);
  expect(asked[0]?.lines.join(' ')).toContain('SAVE_PATH');
});

test('a delete says that what runs is stopped first, and asks also those who do not like questions', async () => {
  room.asksOften = false;
  server.answers = () => '';
  await mover.move('delete', [running, ended]);
  expect(asked[0]).toMatchObject({ title: 'Delete 2 jobs?', isDanger: true });
  expect(asked[0]?.lines.join(' ')).toContain('stopped first');
  expect(told).toEqual(['success: Deleted 2 jobs']);
  await mover.move('stop', [running]);
  expect(asked).toHaveLength(1);
});

test('what could not be removed is told', async () => {
  server.answers = () => '2 files of root stayed in /logs';
  await mover.move('delete', [ended]);
  expect(told).toEqual(['warning: 2 files of root stayed in /logs', 'success: Deleted “old”']);
});

test('run again, clone and edit lose nothing, so nothing is asked', async () => {
  await mover.move('rerun', [ended]);
  await mover.move('clone', [ended]);
  await mover.move('edit', [ended]);
  expect([asked, formed]).toEqual([[], ['clone b', 'edit b']]);
  expect(told).toEqual(['success: Running “old” again, run 2']);
});

test('only those that offer a move are asked to make it', async () => {
  await mover.move('stop', [running, ended]);
  expect(paths()).toEqual(['POST jobs/a/stop']);
  await mover.move('resume', [running, ended]);
  expect(paths()).toHaveLength(1);
});

test('one refusal among many is told with its hint, and the others are done', async () => {
  server.answers = path => {
    if (path === 'jobs/a') {
      throw readError(503, '{"code":"away","message":"The cluster is away.","hint":"Try later."}');
    }
    return '';
  };
  await mover.move('delete', [running, ended]);
  expect(told).toEqual(['error: train: The cluster is away. Try later.', 'success: Deleted “old”']);
});

describe('many at once', () => {
  const many = ['a', 'b', 'c', 'd', 'e'].map(id => job(id, { name: id, phase: 'failed', moves: ['delete'] }));
  const refuse = (status: number, ...ids: ReadonlyArray<string>): void => {
    server.answers = path => {
      if (ids.some(id => path === `jobs/${id}`)) {
        throw readError(status, '{"code":"x","message":"No.","hint":""}');
      }
      return '';
    };
  };

  test('the first one refused for a reason of its own keeps no other from being done', async () => {
    refuse(404, 'a');
    await mover.move('delete', many);
    expect(paths()).toHaveLength(5);
    expect(told).toEqual(['error: a: No.', 'success: Deleted 4 jobs']);
  });

  test('more than three refusals are one sentence', async () => {
    refuse(409, 'a', 'b', 'c', 'd');
    await mover.move('delete', many);
    expect(told).toEqual(['error: 4 jobs were refused. a: No.', 'success: Deleted “e”']);
  });

  test('a server that is down is asked no further, and how many were not tried is told', async () => {
    server.answers = () => {
      throw new Unanswered('down');
    };
    await mover.move('delete', many);
    expect(paths()).toHaveLength(1);
    expect(told.slice(1)).toEqual(['error: Not tried any more: 4 jobs']);
  });
});

describe('what an explanation suggests', () => {
  const action = { id: 'out-of-memory-1', label: 'Ask for more memory', patch: { memory_gb: 20 } };
  const plan = (changes: object): object => ({
    action,
    kind: 'edit',
    changes: [{ key: 'memory_gb', before: 10, after: 20 }],
    first: null,
    move: 'rerun',
    command: null,
    done: false,
    job: { ...job('b'), spec: {} },
    ...changes
  });

  test('is shown with what changes before it is done', async () => {
    server.answers = (_, { body }) => plan({ done: !(body as { dry_run?: boolean }).dry_run });
    await mover.fix(ended, action);
    expect(asked[0]?.lines).toEqual(['memory_gb: 10 → 20', 'Then: Run again']);
    expect(server.asked.map(({ request }) => request.body)).toEqual([
      { fix: 'out-of-memory-1', dry_run: true },
      { fix: 'out-of-memory-1' }
    ]);
    expect(told).toEqual(['success: old: Ask for more memory']);
  });

  test('is only copied where it is a line for a shell', async () => {
    server.answers = () => plan({ kind: 'shell', command: 'pip install torch' });
    await mover.fix(ended, action);
    expect(told).toEqual(['copied: pip install torch']);
    expect(server.asked).toHaveLength(1);
  });
});
