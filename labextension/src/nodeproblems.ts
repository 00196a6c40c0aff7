import type { TranslationBundle } from '@jupyterlab/translation';

/** What is wrong with a node, in words; a code that a newer server says is shown as it is. */
export function problemNames(problems: ReadonlyArray<string>, trans: TranslationBundle): ReadonlyArray<string> {
  const names = new Map([
    ['cordoned', trans.__('takes no new jobs')],
    ['tainted', trans.__('takes only some jobs')],
    ['not-ready', trans.__('not ready')],
    ['disk-pressure', trans.__('its disk is nearly full')],
    ['memory-pressure', trans.__('its memory is nearly full')],
    ['pid-pressure', trans.__('it has nearly too many processes')],
    ['unhealthy-cards', trans.__('it has unhealthy cards')],
    ['cards-missing', trans.__('cards that are held have gone')]
  ]);
  return problems.map(one => names.get(one) ?? one);
}
