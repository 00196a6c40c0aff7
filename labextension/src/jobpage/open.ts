/**
 * Opens a job's page, or brings the one that is open to the front. Loaded with the first page.
 */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { WidgetTracker } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';

import { addPage, showPage } from '../pagearea';
import { Commands, type IJobManager } from '../tokens';
import { JobModel, TABS } from './model';
import { JobPage } from './page';

/** What pages are made with. */
export interface IHouse {
  readonly app: JupyterFrontEnd;
  readonly manager: IJobManager;
  readonly trans: TranslationBundle;
  readonly tracker: WidgetTracker<JobPage>;
}

/** One page for each job; `tab` is where it begins, or is led to. */
export async function openJob(
  { app, manager, trans, tracker }: IHouse,
  id: string,
  tab: unknown
): Promise<JobPage> {
  if (!/^[a-z][a-z0-9]{9}$/.test(id)) {
    throw new Error(trans.__('%1 is not the id of a job.', id.slice(0, 80)));
  }
  let page = tracker.find(one => one.model.id === id);
  if (page === undefined) {
    page = new JobPage(new JobModel(id, manager), trans, (move, job) => {
      void app.commands.execute(Commands.act, { move, ids: [job.id] });
    });
    await tracker.add(page);
    const opened = page;
    page.model.tabChanged.connect(() => void tracker.save(opened));
    addPage(app, page, 'AIArts job');
  }
  const found = TABS.find(one => one === tab);
  if (found !== undefined) {
    page.model.look(found);
  }
  showPage(app, page);
  return page;
}
