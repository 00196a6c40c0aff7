/**
 * A job's page as a user sees it: found by role and name. It is opened by its command, as every door does it.
 */
export class JobPage {
  constructor(page, name, words = { region: 'Job', log: 'Log lines' }) {
    this.page = page;
    this.words = words;
    this.region = page.getByRole('region', { name: `${words.region} ${name}` });
    this.log = this.region.getByRole('log', { name: words.log });
  }

  static async load(page, url) {
    const errors = [];
    page.on('pageerror', error => error.stack?.includes('/extensions/jupyter-aiarts/') && errors.push(error.stack));
    await page.goto(url);
    await page.waitForFunction(() => window.jupyterapp?.commands.hasCommand('jupyter-aiarts:open-job'));
    await page.evaluate(() => window.jupyterapp.restored.then(() => undefined));
    return errors;
  }

  async open(id, tab) {
    await this.page.evaluate(args => void window.jupyterapp.commands.execute('jupyter-aiarts:open-job', args), {
      id,
      tab
    });
    await (tab ? this.region.locator(`.aiarts-Page-body[data-tab="${tab}"]`) : this.region).waitFor();
  }

  async tab(name) {
    await this.region.getByRole('tab', { name }).click();
  }

  async says(text) {
    await this.region.getByText(text).first().waitFor();
  }

  /** Wait until the log shows a line with this text. */
  async logShows(text) {
    await this.log.getByText(text).first().waitFor();
  }

  async press(name) {
    await this.region.getByRole('button', { name, exact: true }).click();
  }
}
