/**
 * AIArts in JupyterLab: one manager holds the state, everything else shows it.
 */
import { cellPlugin } from './plugins/cell';
import { clusterViewPlugin } from './plugins/clusterview';
import { commandsPlugin } from './plugins/commands';
import { filesPlugin } from './plugins/files';
import { formPlugin } from './plugins/form';
import { idlePlugin } from './plugins/idle';
import { jobPagePlugin } from './plugins/jobpage';
import { kernelsPlugin } from './plugins/kernels';
import { managerPlugin } from './plugins/manager';
import { notificationsPlugin } from './plugins/notifications';
import { panelPlugin } from './plugins/panel';

export { IJobManager } from './tokens';

export default [
  managerPlugin,
  panelPlugin,
  formPlugin,
  filesPlugin,
  commandsPlugin,
  notificationsPlugin,
  cellPlugin,
  idlePlugin,
  kernelsPlugin,
  jobPagePlugin,
  clusterViewPlugin
];
