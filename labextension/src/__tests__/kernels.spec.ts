import type { JupyterFrontEnd } from '@jupyterlab/application';

import { JobManager } from '../manager';
import { kernelsPlugin } from '../plugins/kernels';
import { FakeServer, job } from './fakes';

let server: FakeServer;
let manager: JobManager;
let refreshSpecs: jest.Mock<Promise<void>, []>;

beforeEach(() => {
  server = new FakeServer();
  manager = new JobManager(server);
  refreshSpecs = jest.fn(() => Promise.resolve());
  const app = { serviceManager: { kernelspecs: { refreshSpecs } } } as unknown as JupyterFrontEnd;
  void kernelsPlugin.activate(app, manager);
});

afterEach(() => manager.dispose());

test('kernels are asked for again when the server says that they are others, and not for anything else', () => {
  server.socket.say({ type: 'snapshot', jobs: [job('a')] });
  server.socket.say({ type: 'queues' });
  expect(refreshSpecs).not.toHaveBeenCalled();
  server.socket.say({ type: 'kernels' });
  expect(refreshSpecs).toHaveBeenCalledTimes(1);
});

test('news of kernels are no news of jobs', () => {
  const told = jest.fn();
  manager.changed.connect(told);
  server.socket.say({ type: 'kernels' });
  expect(told).not.toHaveBeenCalled();
});

test('a server that does not answer is said in the console, and the next word is heard', async () => {
  const warned = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
  refreshSpecs.mockReturnValueOnce(Promise.reject(new Error('away')));
  server.socket.say({ type: 'kernels' });
  await Promise.resolve();
  await Promise.resolve();
  expect(warned).toHaveBeenCalled();
  server.socket.say({ type: 'kernels' });
  expect(refreshSpecs).toHaveBeenCalledTimes(2);
  warned.mockRestore();
});
