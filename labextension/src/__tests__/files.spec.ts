import type { JupyterFrontEnd } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { IFileBrowserFactory } from '@jupyterlab/filebrowser';
import { CommandRegistry } from '@lumino/commands';

import { filesPlugin } from '../plugins/files';
import { Commands } from '../tokens';

const context = { path: 'work/a.ipynb', model: { dirty: true, readOnly: false }, save: jest.fn() };
/** What happened, in order. */
let steps: string[];
let commands: CommandRegistry;

beforeEach(async () => {
  steps = [];
  context.model = { dirty: true, readOnly: false };
  context.save.mockReset().mockImplementation(async () => void steps.push('saved'));
  commands = new CommandRegistry();
  commands.addCommand(Commands.newJob, { execute: ({ script }) => void steps.push(`form of ${String(script)}`) });
  const contents = { localPath: (path: string) => path };
  const app = { commands, serviceManager: { contents }, shell: { currentWidget: {} } };
  const browsers = { tracker: { currentWidget: { selectedItems: () => [{ path: 'work/a.ipynb' }] } } };
  const documents = {
    contextForWidget: () => context,
    findWidget: (path: string) => (path === context.path ? { context } : undefined)
  };
  await filesPlugin.activate(
    app as unknown as JupyterFrontEnd,
    null,
    browsers as unknown as IFileBrowserFactory,
    documents as unknown as IDocumentManager
  );
});

afterEach(() => {
  Notification.dismiss();
  jest.restoreAllMocks();
});

describe.each(['jupyter-aiarts:submit-notebook', 'jupyter-aiarts:submit-file'])('%s', command => {
  test('saves what is open and was changed, then opens the form', async () => {
    await commands.execute(command);
    expect(steps).toEqual(['saved', 'form of work/a.ipynb']);
  });

  test('opens no form with the old file where saving fails, and says so', async () => {
    jest.spyOn(console, 'warn').mockImplementation();
    context.save.mockRejectedValue(new Error('No room'));
    await commands.execute(command);
    expect(steps).toEqual([]);
    const [told] = Notification.manager.notifications;
    expect([told?.type, told?.message]).toEqual(['error', 'Not submitted: work/a.ipynb could not be saved.']);
  });

  test.each([
    ['has not changed', { dirty: false, readOnly: false }],
    ['may not be changed', { dirty: true, readOnly: true }]
  ])('saves nothing that %s', async (_, model) => {
    context.model = model;
    await commands.execute(command);
    expect(steps).toEqual(['form of work/a.ipynb']);
  });
});
