import type { IRests, Rests } from './idle';

const KEY = 'jupyter-aiarts:idle-rests';

/** Snoozes in the browser's own store: all tabs have them, and a page that is loaded anew. */
export const idleRests: IRests = {
  load(): Rests {
    try {
      const kept: unknown = JSON.parse(window.localStorage.getItem(KEY) ?? '{}');
      const found = Object.entries(typeof kept === 'object' && kept !== null ? kept : {});
      return Object.fromEntries(found.filter((one): one is [string, number] => typeof one[1] === 'number'));
    } catch {
      return {}; // no store, or somebody else wrote to it: then nothing was snoozed
    }
  },

  save(rests: Rests): void {
    try {
      window.localStorage.setItem(KEY, JSON.stringify(rests));
    } catch {
      // no store, or it is full: it is kept as long as the page is
    }
  },

  listen(changed: () => void): () => void {
    const heard = ({ key }: StorageEvent): void => void (key === KEY && changed());
    window.addEventListener('storage', heard);
    return () => window.removeEventListener('storage', heard);
  }
};
