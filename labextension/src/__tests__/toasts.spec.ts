import { Notification } from '@jupyterlab/apputils';
import { nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { MessageLoop } from '@lumino/messaging';
import { act, waitFor } from '@testing-library/react';

import { LabRoom } from '../room';

const trans = nullTranslator.load('jupyter_aiarts');
const told = (): Notification.INotification => Notification.manager.notifications[0]!;
const labels = (): ReadonlyArray<string> => (told().options.actions ?? []).map(({ label }) => label);

afterEach(() => Notification.dismiss());

test('a text that a notification would cut can be read whole, as text', async () => {
  const text = `train <b>7</b>: ${'No node has so many cards. '.repeat(6)}\nAsk for 4 cards.`;
  new LabRoom(new CommandRegistry(), trans).tell(text, 'error');
  expect(labels()).toEqual(['Show all of it']);
  await act(async () => {
    told().options.actions![0]!.callback({ preventDefault: () => undefined } as MouseEvent);
    MessageLoop.flush();
  });
  const dialog = await waitFor(() => document.querySelector('.jp-Dialog .jp-Dialog-content p')!.closest('.jp-Dialog')!, {
    timeout: 4000
  });
  expect([...dialog.querySelectorAll('p')].map(line => line.textContent)).toEqual(text.split('\n'));
  expect(dialog.querySelector('b')).toBeNull();
  await act(async () => dialog.querySelector<HTMLElement>('button[aria-label=Close], .jp-Dialog-footer button')?.click());
});

test('a text that a notification has room for has nothing more to show', () => {
  new LabRoom(new CommandRegistry(), trans).tell('x'.repeat(140), 'success');
  expect([labels(), told().options.autoClose]).toEqual([[], 5000]);
});
