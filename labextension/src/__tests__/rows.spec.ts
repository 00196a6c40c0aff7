import { readLine, identity, columns, clockTime, type ILogLine } from '../logview/line';
import { rowAt, stretch, tops } from '../window';
import { Rows } from '../logview/rows';
import { logLine } from './fakelog';

const numbered = (from: number, to: number): ILogLine[] =>
  Array.from({ length: to - from }, (_, index) => logLine(from + index));
const texts = (rows: Rows): string[] => rows.all.map(row => row.text);

test('a window stays bounded, whichever way it grows, and knows its cursors', () => {
  const rows = new Rows(10);
  rows.append(numbered(100, 115));
  expect([rows.all.length, rows.oldest, rows.newest]).toEqual([10, logLine(105).seq, logLine(114).seq]);
  expect(rows.prepend(numbered(100, 105))).toBe(true);
  expect([rows.all.length, rows.oldest, rows.newest]).toEqual([10, logLine(100).seq, logLine(109).seq]);
  rows.append(numbered(110, 112));
  expect(texts(rows)).toEqual(numbered(102, 112).map(line => line.text));
});

test('characters are bounded too', () => {
  const rows = new Rows(1000, 10_000);
  rows.append(Array.from({ length: 100 }, (_, n) => logLine(n, { text: 'x'.repeat(1000) })));
  expect(rows.all.length).toBe(10);
  rows.prepend(Array.from({ length: 3 }, (_, n) => logLine(n, { text: 'y'.repeat(1000) })));
  expect(rows.all.length).toBe(10);
});

test('a row is found by its id after rows came and went on both sides', () => {
  const rows = new Rows(10);
  rows.append(numbered(100, 110));
  const id = rows.all[4]!.id;
  rows.prepend(numbered(97, 100));
  rows.append(numbered(107, 108));
  expect(rows.all[rows.indexOf(id)]?.text).toBe(logLine(104).text);
});

test('a progress bar that never ends its line is one row, and stays small', () => {
  const rows = new Rows();
  for (let step = 0; step <= 1000; step++) {
    rows.append([logLine(step, { text: `\r${step / 10}% ${'#'.repeat(step % 50)}`, more: true })]);
  }
  expect(rows.all.length).toBe(1);
  expect(rows.all[0]?.text.length).toBeLessThan(200);
  expect(rows.all[0]?.text).toContain('100%');
  rows.append([logLine(1001, { text: '\rdone' }), logLine(1002)]);
  expect(texts(rows)).toEqual(['done', logLine(1002).text]);
});

test('pieces of one long line are one row; another rank between them does not mix in', () => {
  const rows = new Rows();
  rows.append([
    logLine(1, { text: 'abc', more: true }),
    logLine(2, { text: 'other', rank: 1 }),
    logLine(3, { text: 'def' })
  ]);
  expect(texts(rows)).toEqual(['abcdef', 'other']);
  expect([rows.all[0]?.first, rows.newest]).toEqual([logLine(1).seq, logLine(3).seq]);
});

test('equal lines of a live log fold as they come, and only where asked', () => {
  const equal = numbered(0, 5).map(line => ({ ...line, text: 'same' }));
  const plain = new Rows();
  plain.append(equal);
  expect(plain.all.length).toBe(5);
  const folding = new Rows();
  folding.fold = true;
  folding.append(equal);
  expect(folding.all.map(row => row.folded)).toEqual([4]);
});

test('a line in a wrong shape is refused, one with less is filled', () => {
  expect(() => readLine({ seq: 1 })).toThrow('unexpected log line');
  expect(() => readLine(null)).toThrow('unexpected log line');
  expect(readLine({ seq: 'a', t: '', rank: 0, text: 'x' })).toMatchObject({ more: false, folded: 0, harmless: '' });
});

test('a line is the same whichever question it answered', () => {
  expect(identity('18a.0.1.5.7_0.2.4-')).toBe(identity('18a.0.1.5.7~18a.0.1.0'));
  expect(identity('18a.0.1.5.7')).not.toBe(identity('18a.0.1.5.8'));
});

test('columns count wide characters twice and escape codes not at all', () => {
  expect(columns('\x1b[31mab\x1b[0m训练')).toBe(6);
  expect(columns('a plain line')).toBe(12);
  expect(columns('10%\r20% done')).toBe(8);
  expect(columns('a\tb')).toBe(9); // up to the next stop, and no eight more
  expect(columns('12345678\tb\t')).toBe(24);
  expect(columns('😀')).toBe(2);
  expect(columns('x'.repeat(100_000))).toBe(4000);
});

test('a row knows its columns, also when it was put together or rewritten', () => {
  const rows = new Rows();
  rows.append([logLine(1, { text: 'ab', more: true }), logLine(2, { text: 'c训' }), logLine(3, { text: '' })]);
  expect(rows.all.map(row => row.columns)).toEqual([5, 0]);
});

test('a time that is none is shown as it came', () => {
  expect(clockTime('yesterday')).toBe('yesterday');
  expect(clockTime('2026-11-16T01:02:03.456789Z')).toMatch(/^\d\d:\d\d:03\.456$/);
});

test('only the rows that can be seen are drawn, of any number', () => {
  const found = tops(100_000, () => 18);
  expect(stretch(found, 0, 400, 5)).toEqual({ start: 0, end: 28, top: 0 });
  const middle = stretch(found, 900_000, 400, 5);
  expect([middle.start, middle.end - middle.start <= 40]).toEqual([49_995, true]);
  expect(stretch(found, 5e9, 400, 5).end).toBe(100_000);
  expect(
    stretch(
      tops(0, () => 18),
      0,
      400,
      5
    )
  ).toEqual({ start: 0, end: 0, top: 0 });
  expect(
    rowAt(
      tops(3, index => [10, 50, 10][index] ?? 0),
      59
    )
  ).toBe(1);
});
