/**
 * Icons as drawings in the theme's colours; each phase has a shape of its own, so colour is never the only sign.
 */
import { LabIcon, refreshIcon, runIcon, stopIcon } from '@jupyterlab/ui-components';

import type { Move } from './api';
import { PHASES, type Phase } from './wire';

const SHAPES: Readonly<Record<Phase, string>> = {
  queued: '<path d="M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13Zm0 1.5a5 5 0 1 1 0 10A5 5 0 0 1 8 3Zm-.75 1.5v4l3 1.8.75-1.2-2.25-1.4V4.5Z"/>',
  starting: '<path d="M8 1.5V3a5 5 0 1 1-5 5H1.5A6.5 6.5 0 1 0 8 1.5Z"/>',
  running: '<path d="M4 2v12l10-6Z"/>',
  paused: '<path d="M3.5 2.5h3v11h-3Zm6 0h3v11h-3Z"/>',
  succeeded: '<path d="m6.2 12.9-4.6-4.6 1.5-1.5 3.1 3.2 6.8-7 1.5 1.5Z"/>',
  failed: '<path d="m3.6 2.2 4.4 4.4 4.4-4.4 1.4 1.4L9.4 8l4.4 4.4-1.4 1.4L8 9.4l-4.4 4.4-1.4-1.4L6.6 8 2.2 3.6Z"/>',
  lost: '<path d="M8 1 .8 14.2h14.4ZM7.2 6h1.6v4.2H7.2Zm0 5.2h1.6v1.6H7.2Z"/>',
  stopped: '<path d="M3 3h10v10H3Z"/>'
};

const icon = (name: string, shape: string): LabIcon =>
  new LabIcon({
    name: `jupyter-aiarts:${name}`,
    svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 16 16"><g class="jp-icon3" fill="#616161">${shape}</g></svg>`
  });

export const phaseIcons: ReadonlyMap<Phase, LabIcon> = new Map(
  PHASES.map(phase => [phase, icon(phase, SHAPES[phase])])
);

/** Of the moves that have a button of their own. */
export const moveIcons: ReadonlyMap<Move, LabIcon> = new Map([
  ['resume', runIcon],
  ['rerun', refreshIcon],
  ['stop', stopIcon]
]);

/** The machines behind the jobs. */
export const clusterIcon = icon(
  'cluster',
  '<path d="M2 2h12v3.5H2Zm1.5 1.2v1h1.5v-1ZM2 6.3h12v3.5H2Zm1.5 1.2v1h1.5v-1ZM2 10.6h12v3.4H2Zm1.5 1.2v1h1.5v-1Z"/>'
);

/** The sidebar's tab: cards on a board. */
export const jobsIcon = icon(
  'jobs',
  '<path d="M2 2h5v5H2Zm7 0h5v5H9ZM2 9h5v5H2Zm8.5 0h2v1.5H14v2h-1.5V14h-2v-1.5H9v-2h1.5Z"/>'
);
