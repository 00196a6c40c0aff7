import { lastState, plain, spans, webAddress } from '../logview/ansi';

const ESC = '\x1b';

test('colours become class names of ours', () => {
  expect(spans(`a${ESC}[31mred${ESC}[0m b`)).toEqual([
    { text: 'a', look: '' },
    { text: 'red', look: 'aiarts-fg-1' },
    { text: ' b', look: '' }
  ]);
  expect(spans(`${ESC}[1;4;92;41mx`)[0]?.look).toBe('aiarts-fg-10 aiarts-bg-1 aiarts-ansi-bold aiarts-ansi-underline');
  expect(spans(`${ESC}[31;49;39mx`)[0]?.look).toBe('');
});

test.each([
  ['38;5;9', 'aiarts-fg-9'],
  ['38;5;196', 'aiarts-fg-9'],
  ['48;5;21', 'aiarts-bg-12'],
  ['38;2;0;255;0', 'aiarts-fg-10'],
  ['38;2;20;20;20', 'aiarts-fg-0'],
  ['38:2:255:255:255', 'aiarts-fg-15'],
  ['38;9;1', 'aiarts-ansi-strike aiarts-ansi-bold']
])('%s is the nearest colour of the theme', (codes, look) => {
  expect(spans(`${ESC}[${codes}mx`)[0]?.look).toBe(look);
});

test('markup stays text', () => {
  const hostile = '<img src=x onerror=alert(1)><script>alert(1)</script>&lt;';
  expect(spans(hostile)).toEqual([{ text: hostile, look: '' }]);
});

test('codes cannot put words of the line into class names', () => {
  const looks = spans(`${ESC}[31;"onclick=x"m${ESC}[999;1e9;38;5;999999mx`).map(span => span.look);
  looks.forEach(look => expect(look).toMatch(/^[a-z0-9 -]*$/));
});

test.each([
  ['a title', `${ESC}]0;own the window\x07after`, 'after'],
  ['the clipboard', `${ESC}]52;c;cm0gLXJmIC8=${ESC}\\after`, 'after'],
  ['a device string', `${ESC}Pq#0;2;0;0;0${ESC}\\after`, 'after'],
  ['a moved cursor and a wiped screen', `${ESC}[2J${ESC}[1;1H${ESC}[?25lafter${ESC}[K`, 'after'],
  ['a full reset', `${ESC}cafter`, 'after'],
  ['hidden text is shown', `${ESC}[8msecret`, 'secret'],
  ['a string that never ends hides nothing', `${ESC}]0;the rest of the line`, '0;the rest of the line'],
  ['a sequence that never ends hides nothing', `${ESC}[31`, '31'],
  ['a lone escape at the end', `x${ESC}`, 'x'],
  ['stray control characters have pictures', 'a\x00b\x0cc', 'a␀b␌c'],
  ['bells and steps back are not read', 'a\x07b\x08c', 'abc'],
  ['turned direction is told, not obeyed', 'a\u202etxt.exe\u2066', 'a⟨U+202E⟩txt.exe⟨U+2066⟩']
])('terminal tricks: %s', (_, text, shown) => {
  expect(plain(text)).toBe(shown);
});

test('a link goes to the web or nowhere', () => {
  const link = (url: string): string | undefined =>
    spans(`${ESC}]8;;${url}${ESC}\\click${ESC}]8;;${ESC}\\ after`)[0]?.link;
  expect(link('https://example.org/a')).toBe('https://example.org/a');
  [
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'java\tscript:alert(1)',
    'https:',
    'HTTPS//x',
    ' javascript:alert(1)//http://'
  ].forEach(url => expect(link(url)).toBeUndefined());
  expect(webAddress('http://[')).toBeUndefined();
});

test('addresses in the text are links, without the full stop after them', () => {
  const found = spans('see http://10.0.0.1:6006/#x). or javascript:alert(1) https://').filter(span => span.link);
  expect(found).toEqual([{ text: 'http://10.0.0.1:6006/#x', look: '', link: 'http://10.0.0.1:6006/#x' }]);
});

test('a rewritten line shows its last state', () => {
  expect(lastState(' 10%\r 20%\r 30%')).toBe(' 30%');
  expect(lastState(' 10%\r 20%\r')).toBe(' 20%');
  expect(lastState('windows\r\r')).toBe('windows');
  expect(lastState('\r')).toBe('');
});

test('hostile lines of 64 KiB take linear time', () => {
  const started = process.cpuUsage();
  [
    `${ESC}]`,
    `${ESC}[`,
    `${ESC}[1;`,
    `${ESC}]8;;`,
    `${ESC}P`,
    '\r',
    'http://',
    'http://a.',
    `${ESC}[31m`,
    '\u202e'
  ].forEach(piece => {
    const text = piece.repeat(Math.ceil(65_536 / piece.length));
    plain(lastState(text) || text);
    plain(`${ESC}]${'x'.repeat(65_536)}`);
    plain(`${ESC}[${'1;'.repeat(32_768)}`);
  });
  const { user, system } = process.cpuUsage(started);
  expect((user + system) / 1000).toBeLessThan(3000);
});
