import { nullTranslator } from '@jupyterlab/translation';

import type { JobRequest, ShownQueue } from '../api';
import { ApiError, readError } from '../errors';
import { copyAs, Inexpressible, shareAs } from '../form/copyas';
import { BLANK, draftOf, patched, patchOf, specOf, withText } from '../form/draft';
import { quotaText } from '../form/fields';
import { merged, parseEnv, parseParams } from '../form/pairs';
import { REST, Trial } from '../form/trial';
import { JobManager } from '../manager';
import { FakeServer } from './fakes';

const pairs = (found: ReturnType<typeof parseEnv>): unknown => found?.map(({ name, value }) => [name, value]) ?? null;

describe('pasted parameters', () => {
  test.each([
    ['--a 1 --b 2', [['a', '1'], ['b', '2']]],
    ['  --lr=0.1 --name "two words"  ', [['lr', '0.1'], ['name', 'two words']]],
    ["--amp --sql 'select $(x)' ", [['amp', ''], ['sql', 'select $(x)']]],
    ['--offset -1 --x -0.5', [['offset', '-1'], ['x', '-0.5']]],
    ['--a 1 \\\n  --b 2', [['a', '1'], ['b', '2']]],
    ['--data 中文/路径 --data second', [['data', '中文/路径'], ['data', 'second']]],
    ['--eq=a=b', [['eq', 'a=b']]],
    ['--q "a\\"b\\n"', [['q', 'a"b\\n']]],
    ['--note "" --x= --y \'\' --z', [['note', '""'], ['x', '""'], ['y', '""'], ['z', '']]],
    [`--q '"x"' --r '""' --s 'a\nb'`, [['q', '"x"'], ['r', '"\\"\\""'], ['s', '"a\\nb"']]]
  ])('%s', (text, found) => expect(pairs(parseParams(text))).toEqual(found));

  test.each(['learning_rate', '--lr', 'train.py --lr 1', '--a "no end', '--a 1 2', '', '- -'])(
    'what is no list of parameters is left as it is: %s',
    text => expect(parseParams(text)).toBeNull()
  );
});

describe('a pasted .env', () => {
  test.each([
    ['A=1\nB=2', [['A', '1'], ['B', '2']]],
    ['# comment\n\nexport PATH_X="/a b/c"  # why\r\nEMPTY=', [['PATH_X', '/a b/c'], ['EMPTY', '']]],
    ["RAW='$HOME # not a comment'", [['RAW', '$HOME # not a comment']]],
    ['URL=http://x/?a=b#c', [['URL', 'http://x/?a=b#c']]],
    ['LINES="a\\nb"', [['LINES', 'a\nb']]],
    ['KEY= # note\nB= b # c', [['KEY', ''], ['B', 'b']]],
    ['A=1\r\nexport KEY="-----BEGIN\r\n  # M=I\r\n-----END"  # x\r\nB=\'1\n2\'', [['A', '1'], ['KEY', '-----BEGIN\n  # M=I\n-----END'], ['B', '1\n2']]],
    ['A="no end\nB=2', [['A', '"no end'], ['B', '2']]]
  ])('%j', (text, found) => expect(pairs(parseEnv(text))).toEqual(found));

  test.each(['LR', 'not a variable', 'A=1\nnonsense', '1A=2', ''])('is none: %j', text => expect(parseEnv(text)).toBeNull());

  test('takes the place of rows with its names, and empty rows go', () => {
    const rows = [{ name: 'A', value: 'old' }, { name: '', value: '' }, { name: 'B', value: 'b' }];
    expect(pairs(merged(rows, [{ name: 'A', value: 'new' }]))).toEqual([['B', 'b'], ['A', 'new']]);
  });
});

const SPEC: JobRequest = {
  name: "it's 训练",
  script: 'src/train one.py',
  devices: 2,
  args: ['--resume', '$(whoami)'],
  params: { lr: '0.1', amp: null, data: ['a', 'b'] },
  env: { A: 'x y' },
  secret_env: { TOKEN: 'hush' },
  mounts: [{ source: 'nas:/export', target: '/data', read_only: true }],
  preemptible: true
};

describe('drafts', () => {
  test('a spec becomes a draft and the same spec again', () => {
    expect(specOf(draftOf(SPEC as Record<string, unknown>))).toEqual(SPEC);
  });

  test('what is not given is left to the server, and a number that is none goes there to be refused', () => {
    expect(specOf(BLANK)).toEqual({});
    expect(specOf(withText(withText(BLANK, 'devices', 'two'), 'cpu', '0.5'))).toEqual({ devices: 'two', cpu: 0.5 });
  });

  describe('arguments are the same after a clone, whatever is in them', () => {
    const odd = ['', '\n', 'a\nb', 'a\r\nb', '"', '""', '"a"', '"a" ', "'a'", ' x ', ' ', '\t', '\\', '\\n', '"\\', '1', 'null', '[1]', '{', '训练'];
    const again = (args: ReadonlyArray<string>): unknown => specOf(draftOf({ args })).args;

    test.each(odd)('%j alone', one => expect(again([one])).toEqual([one]));

    test.each(odd)('%j beside all others', one => {
      odd.forEach(other => expect(again([one, other, one])).toEqual([one, other, one]));
    });

    test('and stand in the form as they are where that is no other argument', () => {
      expect(draftOf({ args: ['--lr', ' x ', '"', 'a\nb', ''] }).texts.args).toBe('--lr\n x \n"\n"a\\nb"\n""');
    });

    test('a line in quotes that is no JSON is an argument with quotes', () => {
      expect(specOf(withText(BLANK, 'args', '"a" b\n\n"c\n')).args).toEqual(['"a" b', '"c']);
    });
  });

  describe('parameters are the same after a clone, whatever is in them', () => {
    const odd = ['', ' ', 'a\nb', '"', '""', '"a"', '"\\"\\""', '"a\\nb"', "''", 'null', '[1]', '\\', '训练'];
    const again = (params: Record<string, unknown>): unknown => specOf(draftOf({ params })).params;

    test.each(odd)('%j', one => {
      expect(again({ x: one, y: null })).toEqual({ x: one, y: null });
      odd.forEach(other => expect(again({ x: [one, other] })).toEqual({ x: [one, other] }));
    });

    test('and an empty text, which is a value, does not look like none', () => {
      const rows = draftOf({ params: { empty: '', alone: null, plain: '"a"' } }).params;
      expect(rows.map(({ value }) => value)).toEqual(['""', '', '"a"']);
    });
  });

  test('a suggestion changes its keys and no other; null takes one away', () => {
    const draft = draftOf({ devices: 8, nodes: 1, name: 'x', env: { A: '1', B: '2' }, queue: 'red' });
    const next = specOf(patched(draft, { devices: 4, nodes: 2, queue: null, env: { A: '9', B: null } }));
    expect(next).toEqual({ devices: 4, nodes: 2, name: 'x', env: { A: '9' } });
  });

  test('an edit sends what changed alone; names that went are null, secrets that were not written again stay', () => {
    const before = draftOf({ script: 'a.py', devices: 1, env: { A: '1', B: '2' }, secret_env: { T: null }, cpu: 2 });
    const after = draftOf({ script: 'a.py', devices: 2, nodes: 2, env: { A: '1', C: '3' }, secret_env: { T: '' } });
    expect(patchOf(before, after)).toEqual({
      devices: 2,
      nodes: 2,
      kind: 'distributed',
      cpu: null,
      env: { B: null, C: '3' }
    });
    expect(patchOf(before, before)).toEqual({});
  });
});

describe('copy as', () => {
  test('a command line has every value as one word, and no secret', () => {
    expect(copyAs('command', SPEC)).toBe(
      `aiarts submit 'src/train one.py' --name 'it'"'"'s 训练' --devices 2 --param lr=0.1 --param amp --param data=a ` +
        `--param data=b --env 'A=x y' --mount nas:/export:/data:ro --preemptible --secret-env TOKEN -- --resume '$(whoami)'`
    );
    expect(copyAs('magic', { script: 'a.py' })).toBe('%aiarts submit a.py');
  });

  test('what begins with a dash, ends with a colon or is no text is still read as what it is', () => {
    const params = { '-a': '-1', 'k:': 'v', n: 1, one: ['x'], ok: true };
    expect(copyAs('command', { script: '-a.py', name: '-n', params })).toBe(
      `aiarts submit --script=-a.py --name=-n --param=-a=-1 --param 'k::="v"' --param n:=1 --param 'one:=["x"]' --param ok:=true`
    );
  });

  test('what one line of options cannot say is not said wrongly', () => {
    expect(() => copyAs('command', { script: 'a.py', params: { 'a=b': '1' } })).toThrow(Inexpressible);
    expect(() => copyAs('magic', { command: 'one\ntwo' })).toThrow(Inexpressible);
    expect(copyAs('command', { command: 'one\ntwo' })).toBe("aiarts submit --command 'one\ntwo'");
  });

  test('YAML takes no number for a text and no strange character as it is', () => {
    expect(copyAs('yaml', { cpu: 1e-7, name: 'a\u0085\u2028b' })).toBe('cpu: 1.0e-7\nname: "a\\u0085\\u2028b"\n');
  });

  test('Python and YAML hold the same spec', () => {
    expect(copyAs('python', { script: 'a.py', devices: 1, params: { amp: null }, preemptible: true })).toBe(
      'import jupyter_aiarts as aiarts\n\njob = aiarts.submit(\n    "a.py",\n    devices=1,\n    params={"amp": None},\n    preemptible=True,\n)\n'
    );
    expect(copyAs('yaml', { name: 'no', script: 'a.py', cpu: 0.5, params: { lr: '0.1', 'a: b': null }, args: ['#x'] })).toBe(
      'name: "no"\nscript: a.py\ncpu: 0.5\nparams:\n  lr: "0.1"\n  "a: b": null\nargs: ["#x"]\n'
    );
  });

  test.each(['magic', 'command', 'python', 'yaml'] as const)('%s never holds the value of a secret', form => {
    expect(copyAs(form, { ...SPEC, submission_id: 'mine' })).not.toMatch(/hush|mine/);
  });
});

describe('what a queue may give', () => {
  const trans = nullTranslator.load('jupyter_aiarts');
  const queue: ShownQueue = {
    name: 'red',
    cluster: 'lab',
    kind: 'kueue',
    quota: { 'huawei.com/Ascend910': 8, memory: 64 * 1024 ** 3, cpu: null },
    used: { 'huawei.com/Ascend910': 6, memory: null },
    pending: 2
  };

  test('is said with what is taken of it, what is unknown as such, and who waits', () => {
    expect(quotaText(queue, trans)).toBe(
      'Taken of its quota: huawei.com/Ascend910 6 / 8, memory unknown / 64 GB. Jobs waiting in it: 2.'
    );
    expect(quotaText({ ...queue, quota: {}, pending: 0, active: false }, trans)).toBe('It takes no jobs now.');
    expect(quotaText(undefined, trans)).toBe('');
  });

  test('a template is shared as the command that saves it', () => {
    expect(shareAs('two', "it's", { script: 'a b.py', nodes: 2, args: ['-x', 'y'], env: { A: '1' } })).toBe(
      `aiarts templates save two --description 'it'"'"'s' --nodes 2 --args=-x --args=y --env A=1 --script 'a b.py'`
    );
  });
});

describe('trying out while typing', () => {
  let server: FakeServer;
  let trial: Trial;
  let manager: JobManager;

  beforeEach(() => {
    jest.useFakeTimers();
    server = new FakeServer();
    manager = new JobManager(server);
    trial = new Trial(manager);
  });

  afterEach(() => {
    trial.dispose();
    manager.dispose();
    jest.useRealTimers();
  });

  test('is one question for many keys, asked when the hands rest', async () => {
    server.answers = () => ({ spec: { cpu: 1 }, fits: true });
    ['t', 'tr', 'train.py'].forEach(script => trial.consider({ script }));
    expect(server.asked).toEqual([]);
    await jest.advanceTimersByTimeAsync(REST);
    expect(server.asked.map(({ request }) => request.body)).toEqual([{ script: 'train.py' }]);
    expect([trial.state, trial.answer?.fits]).toEqual(['answered', true]);
  });

  test('gives up the earlier question, whose late answer is not believed', async () => {
    const answers: Array<(value: unknown) => void> = [];
    server.answers = () => new Promise(resolve => answers.push(resolve));
    trial.consider({ script: 'a' });
    await jest.advanceTimersByTimeAsync(REST);
    trial.consider({ script: 'b' });
    expect(server.asked[0]?.request.signal?.aborted).toBe(true);
    await jest.advanceTimersByTimeAsync(REST);
    answers[1]?.({ spec: {}, fits: false });
    answers[0]?.({ spec: {}, fits: true });
    await jest.advanceTimersByTimeAsync(0);
    expect(trial.answer?.fits).toBe(false);
  });

  test('a refusal keeps the defaults of the last answer, and its problems have their keys', async () => {
    server.answers = () => ({ spec: { cpu: 1 }, fits: true });
    trial.consider({ script: 'a' });
    await jest.advanceTimersByTimeAsync(REST);
    server.answers = () => {
      throw readError(400, '{"code":"invalid-spec","message":"No","hint":"","problems":[{"key":"cpu","message":"less"}]}');
    };
    trial.consider({ script: 'a', cpu: 99 });
    await jest.advanceTimersByTimeAsync(REST);
    expect(trial.state).toBe('refused');
    expect((trial.error as ApiError).problems).toEqual([{ key: 'cpu', message: 'less' }]);
    expect(trial.answer?.spec.cpu).toBe(1);
  });
});
