import { CommandRegistry } from '@lumino/commands';
import { fireEvent } from '@testing-library/react';

import { Doors } from '../doors';
import type { Mover } from '../moving';
import { Commands } from '../tokens';
import { job } from './fakes';

const done = jest.fn();
let commands: CommandRegistry;
let list: HTMLElement;

beforeEach(() => {
  commands = new CommandRegistry();
  commands.addCommand(Commands.act, { label: 'Stop', execute: () => done(document.activeElement) });
  document.body.innerHTML = '<div tabindex="0">the list</div>';
  list = document.querySelector('div')!;
  list.focus();
  new Doors(commands, {} as Mover).menu([job('a', { moves: ['stop'] })], 0, 0);
});

const press = (keyCode: number): boolean => fireEvent.keyDown(document.querySelector('.lm-Menu')!, { keyCode });

test('a menu that is closed gives the keyboard back to where it came from', () => {
  expect(document.activeElement).not.toBe(list);
  press(27);
  expect(document.activeElement).toBe(list);
});

test('what is chosen in a menu begins where the menu came from, so that its dialog gives the keyboard back there', () => {
  press(40);
  press(13);
  expect(done).toHaveBeenCalledWith(list);
});
