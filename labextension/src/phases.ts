import type { TranslationBundle } from '@jupyterlab/translation';

import type { Phase } from './wire';

/** The phase in the user's language; written out so that every text is found by a search for it. */
export function phaseLabel(phase: Phase, trans: TranslationBundle): string {
  switch (phase) {
    case 'queued':
      return trans.__('queued');
    case 'starting':
      return trans.__('starting');
    case 'running':
      return trans.__('running');
    case 'paused':
      return trans.__('paused');
    case 'succeeded':
      return trans.__('succeeded');
    case 'failed':
      return trans.__('failed');
    case 'lost':
      return trans.__('lost');
    case 'stopped':
      return trans.__('stopped');
  }
}

/** Whether nothing more happens to a job by itself. */
export function isFinished(phase: Phase): boolean {
  return phase === 'succeeded' || phase === 'failed' || phase === 'lost' || phase === 'stopped';
}
