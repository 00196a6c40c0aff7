import { NOTHING, selectRange, toggle } from '../selection';
import { chosen, distinct, EVERYTHING, keyOf, reason, rowsOf } from '../shown';
import { duration, elapsed, ran } from '../times';
import { rowAt, scrollFor, stretch, tops } from '../window';
import type { IJob } from '../wire';
import { job } from './fakes';

const spec = job('x').spec;
const jobs: ReadonlyArray<IJob> = [
  job('a', { name: 'Train 模型', owner: 'alice', spec: { ...spec, queue: 'red', script: 'src/train.py' } }),
  job('b', { phase: 'failed', owner: 'bob', cluster: 'lab' }),
  job('c', { phase: 'queued', spec: { ...spec, queue: 'blue' } })
];
const ids = (found: ReadonlyArray<IJob>): string[] => found.map(({ id }) => id);
const seek = (changes: Partial<typeof EVERYTHING>): string[] =>
  ids(chosen(jobs, { ...EVERYTHING, ...changes }, one => one.owner === 'alice'));

describe('filters', () => {
  test.each([
    [{}, ['a', 'b', 'c']],
    [{ text: '  ' }, ['a', 'b', 'c']],
    [{ text: 'TRAIN 模型' }, ['a']],
    [{ text: 'src/train' }, ['a']],
    [{ text: 'bob' }, ['b']],
    [{ text: '(' }, []],
    [{ phase: 'queued' as const }, ['c']],
    [{ cluster: 'lab' }, ['b']],
    [{ queue: 'red' }, ['a']],
    [{ mine: true }, ['a', 'c']],
    [{ mine: true, queue: 'blue', text: 'c' }, ['c']]
  ])('%j finds %j', (filter, found) => expect(seek(filter)).toEqual(found));

  test('choices offer what there is, once and sorted', () => {
    expect(distinct(jobs, one => one.spec.queue)).toEqual(['blue', 'red']);
  });
});

describe('rows', () => {
  test('groups go from what happens now to what is over; a closed one is its head alone', () => {
    expect(rowsOf(jobs, new Set()).map(keyOf)).toEqual(['group:running', 'a', 'group:queued', 'c', 'group:failed', 'b']);
    const closed = rowsOf(jobs, new Set(['queued' as const]));
    expect(closed.map(keyOf)).toEqual(['group:running', 'a', 'group:queued', 'group:failed', 'b']);
    expect(closed[2]).toMatchObject({ count: 1, isOpen: false });
  });

  test('a reason is shown where somebody waits or something failed, and never only the phase again', () => {
    const told = (changes: Partial<IJob>): string => reason(job('a', changes), 'queued');
    const waits = { code: 'no-node-fits', title: 'No node has 8 cards free' };
    expect(told({ phase: 'queued', explanation: waits })).toBe(waits.title);
    expect(told({ phase: 'queued', explanation: { code: 'queued', title: 'Queued' } })).toBe('');
    expect(told({ phase: 'running', explanation: { code: 'running', title: 'Running since 3 o’clock' } })).toBe('');
    expect(told({ phase: 'queued' })).toBe('');
  });
});

describe('ten thousand rows', () => {
  const offsets = tops(10_000, index => (index % 10 ? 40 : 20));

  test('few of them are near the eye, wherever it is', () => {
    for (const top of [0, 1, 1234, 200_000, 379_000, 1e9, -50]) {
      const { start: first, end: last } = stretch(offsets, top, 800, 8);
      expect(last - first).toBeLessThan(60);
      expect(first).toBeGreaterThanOrEqual(0);
      expect(last).toBeLessThanOrEqual(10_000);
      if (top >= 0 && top < 379_000) {
        expect(offsets[first]).toBeLessThanOrEqual(top);
        expect(offsets[last]).toBeGreaterThanOrEqual(top + 800);
      }
    }
  });

  test('a row is found by where it is, and scrolled to no farther than needed', () => {
    expect([0, 19, 20, 59, 60].map(y => rowAt(offsets, y))).toEqual([0, 0, 1, 1, 2]);
    expect(scrollFor(offsets, 0, 500, 100)).toBe(0);
    expect(scrollFor(offsets, 5, 0, 800)).toBe(0);
    expect(scrollFor(offsets, 5, 0, 100)).toBe(120);
    expect(stretch(tops(0, () => 1), 0, 100, 8)).toEqual({ start: 0, end: 0, top: 0 });
  });

  test('they are put in order, filtered and laid out in a moment', () => {
    const many = Array.from({ length: 10_000 }, (_, index) => job(`j${index}`, { name: `train ${index}` }));
    const began = process.cpuUsage();
    const rows = rowsOf(chosen(many, { ...EVERYTHING, text: 'train' }, () => true), new Set());
    tops(rows.length, () => 46);
    expect(rows).toHaveLength(10_001);
    const { user, system } = process.cpuUsage(began);
    expect((user + system) / 1000).toBeLessThan(500);
  });
});

describe('choosing', () => {
  const rows = rowsOf(jobs, new Set());

  test('a click chooses one, with Shift all from there, and never the head of a group', () => {
    const one = selectRange(rows, NOTHING, 1, false);
    expect([...one.ids]).toEqual(['a']);
    const range = selectRange(rows, one, 5, true);
    expect([...range.ids]).toEqual(['a', 'c', 'b']);
    expect([...selectRange(rows, range, 2, true).ids]).toEqual(['a']);
    expect([...selectRange(rows, range, 0, false).ids]).toEqual([]);
  });

  test('Space adds and takes away', () => {
    const both = toggle(toggle(NOTHING, 'a'), 'b');
    expect([...both.ids]).toEqual(['a', 'b']);
    expect([...toggle(both, 'a').ids]).toEqual(['b']);
  });

  test('a range whose beginning has gone begins anew', () => {
    const gone = { ids: new Set(['z']), cursor: 'z', anchor: 'z' };
    expect([...selectRange(rows, gone, 3, true).ids]).toEqual(['c']);
    expect(selectRange([], gone, 0, false)).toBe(gone);
  });
});

test.each([
  [0, '0:00'],
  [-5000, '0:00'],
  [61_000, '1:01'],
  [3_600_000, '1:00:00'],
  [47 * 3_600_000, '47:00:00'],
  [51 * 3_600_000, '2 d 3 h']
])('%d ms are %s', (time, text) => expect(duration(time)).toBe(text));

test('a run that has not begun, or has no time that can be read, has no length', () => {
  const now = Date.parse('2026-11-16T08:00:00Z');
  expect(elapsed(null, null, now)).toBe('');
  expect(elapsed('yesterday', null, now)).toBe('');
  expect(elapsed('2026-11-16T07:59:00Z', null, now)).toBe('1:00');
  expect(elapsed('2026-11-16T08:59:00Z', null, now)).toBe('0:00');
});

test('how long a run has run leaves out its pauses, and says nothing where they are not known', () => {
  const now = Date.parse('2026-11-16T08:00:00Z');
  const at = (clock: string): string => `2026-11-16T${clock}:00Z`;
  const run = { started: at('01:00'), ended: null };
  const first = { queued: at('00:50'), started: at('01:00'), ended: at('01:10') };
  expect(ran(run, now)).toBe('7:00:00');
  expect(ran({ ...run, attempts: [first, { queued: at('07:00'), started: at('07:30') }] }, now)).toBe('40:00');
  expect(ran({ ...run, attempts: [first, { queued: at('07:00') }] }, now)).toBe('10:00');
  expect(ran({ ...run, ended: at('07:00'), attempts: [first] }, now)).toBe('10:00');
  expect(ran({ ...run, attempts: [{ ...first, ended: null }, { started: at('07:30') }] }, now)).toBe('');
});
