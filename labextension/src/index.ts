/**
 * AIArts in JupyterLab: one manager holds the state, everything else shows it.
 */
import { commandsPlugin } from './plugins/commands';
import { managerPlugin } from './plugins/manager';
import { notificationsPlugin } from './plugins/notifications';
import { panelPlugin } from './plugins/panel';

export { IJobManager } from './tokens';

export default [managerPlugin, panelPlugin, commandsPlugin, notificationsPlugin];
