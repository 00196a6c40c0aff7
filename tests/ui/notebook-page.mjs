/**
 * A notebook as a user sees it: cells are found by their number, panels by role and name.
 */
export class NotebookPage {
  constructor(page) {
    this.page = page;
    this.errors = [];
    page.on('pageerror', error => {
      if (error.stack?.includes('/extensions/jupyter-aiarts/')) {
        this.errors.push(error.stack);
      }
    });
  }

  /** Open a saved notebook; its kernel starts only when a cell is run. */
  async open(lab, name) {
    await this.page.goto(lab.notebook(name));
    await this.page.locator('.jp-NotebookPanel .jp-Cell').first().waitFor();
  }

  /** Run all cells once the kernel is there; JupyterLab forgets what is run in the moment it connects. */
  async runAll() {
    await this.page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').waitFor({ timeout: 60_000 });
    const first = this.page.locator('.jp-InputPrompt', { hasText: /^\[\d+\]:$/ }).first();
    // Run in that moment, it may also ask which kernel is meant, for each of the cells.
    const asked = this.page.getByRole('dialog').getByRole('button', { name: 'Select', exact: true });
    await this.page.addLocatorHandler(asked, button => button.click());
    for (let tries = 0; tries < 5 && !(await first.isVisible()); tries++) {
      await this.page.locator('.jp-Notebook .jp-Cell').first().click();
      await this.page.getByRole('menuitem', { name: 'Run', exact: true }).click();
      await this.page.getByRole('menuitem', { name: 'Run All Cells', exact: true }).click();
      await first.waitFor({ timeout: 10_000 }).catch(() => null);
    }
    await this.page.removeLocatorHandler(asked);
  }

  panel(name) {
    return this.page.getByRole('region', { name, exact: true });
  }

  async theme(name) {
    await this.page.getByRole('menuitem', { name: 'Settings', exact: true }).click();
    await this.page.locator('.lm-Menu-itemLabel', { hasText: /^Theme$/ }).click();
    await this.page.locator('.lm-Menu-itemLabel', { hasText: new RegExp(`^JupyterLab ${name}$`) }).click();
    await this.page.locator(`body[data-jp-theme-name="JupyterLab ${name}"]`).waitFor({ state: 'attached' });
    await this.page.locator('#jupyterlab-splash').waitFor({ state: 'detached' });
  }
}

/** A notebook file out of the texts of its cells. */
export function notebook(...cells) {
  return {
    nbformat: 4,
    nbformat_minor: 5,
    metadata: { kernelspec: { name: 'python3', display_name: 'Python 3', language: 'python' } },
    cells: cells.map((source, place) => ({
      cell_type: 'code', id: `cell-${place}`, metadata: {}, source, execution_count: null, outputs: []
    }))
  };
}
