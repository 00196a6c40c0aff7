/**
 * The sidebar as a user sees it: found by role and name, never by our class names.
 */
export class JobsPage {
  constructor(page, title = 'AIArts jobs') {
    this.page = page;
    this.tab = page.getByRole('tab', { name: title });
    this.panel = page.getByRole('region', { name: title, includeHidden: true });
    this.list = this.panel.getByRole('treegrid');
  }

  /** Load JupyterLab and open the sidebar; what breaks in our part of the page is collected in `errors`. */
  async open(url) {
    this.errors = [];
    this.page.on('pageerror', error => {
      if (error.stack?.includes('/extensions/jupyter-aiarts/')) {
        this.errors.push(error.stack);
      }
    });
    await this.page.goto(url);
    await this.tab.click();
    await this.panel.waitFor();
  }

  /** Wait until the panel says `text`. */
  async says(text) {
    await this.panel.getByText(text).first().waitFor();
  }

  /** Wait until JupyterLab notifies of `text`. */
  async isTold(text, patience = {}) {
    await this.page.getByRole('alert').filter({ hasText: text }).first().waitFor(patience);
  }

  /** A dialog hears keys once it has the focus, which JupyterLab gives it when the page has a moment. */
  async dialogHasKeys() {
    await this.page.getByRole('dialog').locator('button:focus').waitFor();
  }

  /** The rows of jobs, in order; heads of groups have no place in them. */
  rows() {
    return this.list.locator('[role=row][aria-level="2"]');
  }

  row(name) {
    return this.rows().filter({ hasText: name });
  }

  /** Wait until the job's row says `text`. */
  async rowSays(name, text) {
    await this.row(name).filter({ hasText: text }).waitFor();
  }

  /** Choose a move from the job's menu, and say yes where it is asked. */
  async move(name, label, yes = null) {
    await this.row(name).click({ button: 'right' });
    await this.page.getByRole('menuitem', { name: label, exact: true }).click();
    if (yes) {
      await this.page.getByRole('dialog').getByRole('button', { name: yes, exact: true }).click();
    }
  }
}
