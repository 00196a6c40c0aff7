import { holder, squares } from '../cell/cards';
import { level, megabytes, number, share, size, sizes } from '../amounts';
import { logText } from '../cell/logtext';
import { History, linePath, POINTS, valuesOf } from '../cell/history';
import { shownBy } from '../cell/mime';
import { readMachines, readUsage } from '../cell/reading';
import { keptRows } from '../cell/rows';

describe('what an output asks to be drawn', () => {
  it.each([
    [{ kind: 'usage' }, { kind: 'usage' }],
    [{ kind: 'job', id: 'abcdefghij' }, { kind: 'job', id: 'abcdefghij' }],
    [{ kind: 'jobs', mine: true, limit: 5, q: '' }, { kind: 'jobs', query: { mine: '1', limit: '5' }, ids: null }],
    [{ kind: 'jobs', ids: ['abcdefghij'] }, { kind: 'jobs', query: {}, ids: ['abcdefghij'] }],
    [{ kind: 'cluster' }, { kind: 'cluster', cluster: null }]
  ])('is read: %j', (said, shown) => expect(shownBy(said)).toEqual(shown));

  it.each([
    null,
    'job',
    {},
    { kind: 'job' },
    { kind: 'job', id: '../../api' },
    { kind: 'job', id: 'ABCDEFGHIJ' },
    { kind: 'jobs', ids: 'abcdefghij' },
    { kind: 'jobs', ids: ['../x'] },
    { kind: 'jobs', ids: new Array(21).fill('abcdefghij') },
    { kind: 'of tomorrow' }
  ])('is text where it is not understood or not harmless: %j', said => expect(shownBy(said)).toBeNull());
});

describe('what was seen before', () => {
  const at = 1_700_000_000;

  it('begins with what the server remembers and goes on with what it tells', () => {
    const history = new History();
    history.begin({ times: [at, at + 1], series: new Map([['cpu', [1, null]]]) });
    history.add(at + 2, new Map([['cpu', 3]]));
    expect(history.length).toBe(3);
    const points = history.points('cpu');
    expect(points.length).toBe(POINTS);
    expect(points.slice(-2)).toEqual([1, 3]);
  });

  it('does not count one look twice, and begins anew when the clock goes back', () => {
    const history = new History();
    history.add(at, new Map([['cpu', 1]]));
    history.add(at, new Map([['cpu', 1]]));
    expect(history.length).toBe(1);
    history.add(at - 3600, new Map([['cpu', 2]]));
    expect(history.length).toBe(1);
    expect(history.points('cpu').filter(value => value !== null)).toEqual([2]);
  });

  it('is kept when the clock is set back by no more than the server waits for', () => {
    const history = new History();
    history.add(at, new Map([['cpu', 1]]));
    history.add(at - 60, new Map([['cpu', 2]]));
    history.add(at - 2, new Map([['cpu', 2]]));
    history.add(at + 30, new Map([['cpu', 3]]));
    expect(history.length).toBe(2);
    expect(history.points('cpu').filter(value => value !== null)).toEqual([1, 3]);
  });

  it('is bounded, and forgets a card that is gone', () => {
    const history = new History();
    history.add(at, new Map([['npu 7 utilization', 50]]));
    for (let second = 1; second <= 5000; second++) {
      history.add(at + second, new Map([['cpu', second]]));
    }
    expect(history.length).toBeLessThanOrEqual(661);
    expect(history.points('npu 7 utilization').every(value => value === null)).toBe(true);
    expect(history.span).toBe(600);
  });

  it('is a short line at first', () => {
    const history = new History();
    history.add(at, new Map());
    history.add(at + 90, new Map());
    expect(history.span).toBe(120);
  });

  it('leaves out what is not known, and never says 0 for it', () => {
    const usage = readUsage({
      t: '2026-11-16T08:00:00Z',
      host: { cpu: null, memory_used: 5 },
      devices: [{ kind: 'npu', id: 3, utilization: null, memory_used_mb: 7 }],
      problems: []
    });
    expect([...valuesOf(usage)]).toEqual([
      ['memory', 5],
      ['npu 3 memory', 7]
    ]);
    expect(usage.cards[0]!.busy).toBeNull();
  });

  it('is drawn with gaps, inside its box, and one moment alone is a dot', () => {
    expect(linePath([null, 0, 50, null, 200], 100)).toBe('M1 100L2 50M4 0h.01');
    expect(linePath([null, null], 100)).toBe('');
  });
});

describe('numbers', () => {
  it('are read by people, and unknown is a question mark', () => {
    expect([null, 0, 2048, 3 * 2 ** 30, 5 * 2 ** 40].map(size)).toEqual(['?', '0 B', '2.0 KB', '3.0 GB', '5.0 TB']);
    expect(sizes(2 ** 30, 2 ** 31)).toBe('1.0 / 2.0 GB');
    expect(sizes(null, 2 ** 31)).toBe('? / 2.0 GB');
    expect(sizes(null, null)).toBe('? / ?');
    expect(megabytes(512, 2048)).toBe('512.0 MB / 2.0 GB');
    expect(number(null, 0, ' %')).toBe('?');
    expect(share(5, 0)).toBeNull();
    expect(share(9, 3)).toBe(1);
  });

  it('of disks are pointed out from 90 % on', () => {
    expect([0.5, 0.9, 0.97, 1].map(part => level(part, 1))).toEqual(['fine', 'high', 'full', 'full']);
    expect(level(null, 1)).toBe('fine');
  });
});

describe('a log line', () => {
  it('is text without what only a terminal understands', () => {
    expect(logText('\x1b[31mred\x1b[0m <b>x</b>')).toBe('red <b>x</b>');
    expect(logText('\x1b]0;title\x07after')).toBe('after');
    expect(logText(' 10%\r 99%\r')).toBe(' 99%');
    expect(logText('a\u202eb\x00c')).toBe('abc');
  });
});

describe('rows', () => {
  it('that say the same stay the same objects', () => {
    const before = [
      { id: 'a', phase: 'running' },
      { id: 'b', phase: 'queued' }
    ];
    const after = keptRows(before, [
      { id: 'a', phase: 'running' },
      { id: 'b', phase: 'running' }
    ]);
    expect(after[0]).toBe(before[0]);
    expect(after[1]).not.toBe(before[1]);
    expect(keptRows(before, before.map(row => ({ ...row })))).toBe(before);
    expect(keptRows(before, [])).toEqual([]);
  });
});

describe('the map of cards', () => {
  const machine = (changes: object) => readMachines({ nodes: [{ name: 'n', cards: 4, free: 2, ...changes }] }).machines[0]!;
  const states = (changes: object) => squares(machine(changes)).map(({ state }) => state);

  it('has each card where it was reported', () => {
    const held = [{ owner: 'alice', job: 'abcdefghij', cards: 2, ids: [1, 3] }];
    expect(states({ held_by: held })).toEqual(['free', 'held', 'free', 'held']);
  });

  it('calls no card free for which a card is held that the machine no longer offers', () => {
    const held = [{ owner: 'alice', job: 'abcdefghij', cards: 2, ids: [6, 7] }, { owner: 'bob', cards: 1, ids: [0] }];
    const drawn = squares(machine({ free: 1, held_by: held }));
    expect(drawn.map(square => (square.state === 'held' ? [holder(square.by), square.isGuess] : square.state))).toEqual([
      ['bob', false],
      ['alice', true],
      ['alice', true],
      'free'
    ]);
    const many = squares(machine({ cards: 100, free: 98, held_by: [{ owner: 'alice', cards: 2, ids: [70, 99] }] }));
    expect(many.map(({ state }) => state)).toEqual(new Array(64).fill('free'));
  });

  it('says where nobody reported which cards they are', () => {
    const drawn = squares(machine({ held_by: [{ namespace: 'team', cards: 2, ids: null }, { owner: 'bob', cards: 1, ids: [0] }] }));
    expect(drawn.map(square => (square.state === 'held' ? [holder(square.by), square.isGuess] : square.state))).toEqual([
      ['bob', false],
      ['team', true],
      ['team', true],
      'free'
    ]);
  });

  it('never calls a card free that nobody may see', () =>
    expect(states({ free: null })).toEqual(['unknown', 'unknown', 'unknown', 'unknown']));

  it('has all cards of a board of which some are not well, and is bounded', () => {
    expect(states({ cards: 1, unhealthy: 1 })).toEqual(['free', 'unhealthy']);
    const held = [{ owner: 'alice', job: 'abcdefghij', cards: 1, ids: [3] }];
    const drawn = squares(machine({ cards: 3, unhealthy: 1, held_by: held }));
    expect(drawn.map(({ state, isGuess }) => [state, isGuess])).toEqual([
      ['free', true],
      ['free', true],
      ['unhealthy', true],
      ['held', false]
    ]);
    expect(squares(machine({ cards: 100_000, unhealthy: 100_000 })).length).toBe(64);
    expect(states({ cards: null })).toEqual([]);
  });
});
