import { nullTranslator } from '@jupyterlab/translation';
import { MessageLoop } from '@lumino/messaging';
import { act, waitFor } from '@testing-library/react';

import { copyOrShow, copyText } from '../copying';

const trans = nullTranslator.load('jupyter_aiarts');

/** What is on the clipboard; jsdom has none, so this is the browser: it copies when told to, or refuses. */
let held: string;
let allows: boolean;

/** Somebody copies, or a page does; answers what our listeners left of it. */
function copies(): Event {
  const event = new Event('copy', { bubbles: true, cancelable: true });
  const clipboardData = { setData: (_: string, text: string) => void (held = text) };
  document.body.dispatchEvent(Object.assign(event, { clipboardData }));
  return event;
}

beforeEach(() => {
  held = 'what was there';
  allows = true;
  document.execCommand = () => allows && copies().defaultPrevented;
  jest.spyOn(navigator.clipboard, 'writeText').mockImplementation(() => Promise.reject(new Error('not allowed')));
});

afterEach(() => jest.restoreAllMocks());

test('a text is copied at once, in the press itself, and whatever was selected still is', async () => {
  document.body.innerHTML = '<p>before</p>';
  document.getSelection()?.selectAllChildren(document.querySelector('p')!);
  const copied = copyText('a: 1\n\tb: "训练"');
  expect(held).toBe('a: 1\n\tb: "训练"');
  expect(await copied).toBe(true);
  expect([document.getSelection()?.toString(), document.body.innerHTML]).toEqual(['before', '<p>before</p>']);
});

test('a copy that the browser refuses is told, and what somebody copies next is their own', async () => {
  allows = false;
  expect(await copyText('ours')).toBe(false);
  expect([copies().defaultPrevented, held]).toEqual([false, 'what was there']);
});

test('where only the newer way is allowed, that is taken', async () => {
  allows = false;
  const write = jest.spyOn(navigator.clipboard, 'writeText').mockImplementation(() => Promise.resolve());
  expect(await copyText('ours')).toBe(true);
  expect(write).toHaveBeenCalledWith('ours');
});

test('a text that could not be copied is shown, as text, until it is copied or given up', async () => {
  allows = false;
  const text = 'kind: Job\n# <b>x</b>\n';
  const done = copyOrShow(text, trans);
  const field = await waitFor(() => {
    MessageLoop.flush();
    return document.querySelector<HTMLTextAreaElement>('.jp-Dialog textarea')!.closest('.jp-Dialog')!;
  });
  expect(field.querySelector('textarea')!.value).toBe(text);
  allows = true;
  await act(async () => field.querySelector<HTMLElement>('.jp-Dialog-footer .jp-mod-accept')!.click());
  expect(await done).toBe(true);
  expect(held).toBe(text);
});
