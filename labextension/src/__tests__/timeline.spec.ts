import { nullTranslator } from '@jupyterlab/translation';

import type { Job } from '../api';
import { lasting, timeline } from '../jobpage/timeline';
import { job as listed } from './fakes';

const trans = nullTranslator.load('jupyter_aiarts');
const whole = (changes: Partial<Job>): Job => ({ ...listed('abcdefghij'), spec: {}, ...changes }) as Job;

test('a life on a line: waiting, earlier runs, the run that goes on, and clocks that are wrong', () => {
  const job = whole({ created: '2026-11-16T00:00:00Z', started: '2026-11-16T00:01:00Z' });
  const now = Date.parse('2026-11-16T00:04:00Z');
  const event = { t: '2026-11-16T00:02:00Z', type: 'Normal', reason: 'r', message: '', object: '' };
  const line = timeline(job, [event, { ...event, t: 'never' }], now);
  expect(line.spells.map(({ kind, left, width }) => [kind, left, width])).toEqual([
    ['waiting', 0, 0.25],
    ['run', 0.25, 0.75]
  ]);
  expect(line.marks.map(({ at }) => at)).toEqual([0.5]);

  const again = timeline(
    { ...job, run: 3, earlier: [{ started: '2026-11-15T00:00:00Z', ended: '2026-11-15T01:00:00Z' }] },
    [],
    now
  );
  expect(again.spells.map(({ run }) => run)).toEqual([2, 3]);

  const wrong = timeline({ ...job, started: '2036-01-01T00:00:00Z', ended: '2026-01-01T00:00:00Z' }, [], now);
  wrong.spells.forEach(({ left, width }) => expect(left >= 0 && left <= 1 && width >= 0 && width <= 1).toBe(true));
  expect(timeline({ ...job, created: 'x', started: null }, [event], now).spells).toEqual([]);
});

const day = (clock: string): string => `2026-11-16T${clock}:00Z`;
const OF_TWO = [
  { queued: day('00:00'), started: day('00:10'), ended: day('00:20') },
  { queued: day('03:20'), started: day('03:30') }
];

test.each<[string, Partial<Job>, string[]]>([
  ['never paused', { started: day('00:10') }, ['waiting 10 min 0 s', 'run 4 h 50 min running']],
  ['resting', { phase: 'paused', started: day('00:10'), ended: day('00:20') }, ['waiting 10 min 0 s', 'run 10 min 0 s', 'paused 4 h 40 min']],
  ['resumed', { started: day('00:10'), attempts: OF_TWO }, ['waiting 10 min 0 s', 'run 10 min 0 s', 'paused 3 h 0 min', 'waiting 10 min 0 s', 'run 1 h 30 min running']],
  [
    'resting again',
    { phase: 'paused', started: day('00:10'), ended: day('04:00'), attempts: [OF_TWO[0]!, { ...OF_TWO[1]!, ended: day('04:00') }] },
    ['waiting 10 min 0 s', 'run 10 min 0 s', 'paused 3 h 0 min', 'waiting 10 min 0 s', 'run 30 min 0 s', 'paused 1 h 0 min']
  ],
  ['stopped out of its pause', { phase: 'stopped', started: day('00:10'), ended: day('04:20'), attempts: [OF_TWO[0]!] }, ['waiting 10 min 0 s', 'run 10 min 0 s stopped', 'paused 4 h 0 min']],
  ['queued anew', { phase: 'queued', started: day('00:10'), attempts: [OF_TWO[0]!, { queued: day('03:20') }] }, ['waiting 10 min 0 s', 'run 10 min 0 s', 'paused 3 h 0 min', 'waiting 1 h 40 min']],
  ['paused at a time that nobody knows', { started: day('00:10'), attempts: [{ queued: day('00:00'), started: day('00:10') }, { started: day('04:00') }] }, ['waiting 10 min 0 s', 'unknown 3 h 50 min', 'run 1 h 0 min running']],
  ['paused while it waited', { started: day('02:30'), attempts: [{ queued: day('00:00'), ended: day('00:30') }, { queued: day('02:00'), started: day('02:30') }] }, ['waiting 30 min 0 s', 'paused 1 h 30 min', 'waiting 30 min 0 s', 'run 2 h 30 min running']]
])('a life of a run that is %s has each stretch by its own name and length', (_, changes, expected) => {
  const now = Date.parse(day('05:00'));
  const { spells } = timeline(whole({ created: day('00:00'), phase: 'running', ...changes }), [], now);
  expect(
    spells.map(({ kind, phase, from, until }) =>
      [kind, lasting(from, until, now, trans), ...(kind === 'run' && phase !== 'ended' ? [phase] : [])].join(' ')
    )
  ).toEqual(expected);
});

test.each([
  [300, '0.3 s'],
  [59_000, '59 s'],
  [754_000, '12 min 34 s'],
  [11_520_000, '3 h 12 min'],
  [183_600_000, '2 d 3 h'],
  [-5000, '0.0 s']
])('%s ms are %s', (milliseconds, text) => {
  const now = Date.parse('2026-11-16T00:00:00Z');
  expect(lasting(new Date(now - milliseconds).toISOString(), null, now, trans)).toBe(text);
});

test('its units are those of the page’s language', () => {
  const chinese = { ...trans, __: (text: string, ...values: unknown[]) => `${text}|${values.join(' ')}` } as typeof trans;
  expect(lasting('2026-11-16T00:00:00Z', '2026-11-16T03:12:00Z', 0, chinese)).toBe('%1 h %2 min|3 12');
});
