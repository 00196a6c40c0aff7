import assert from 'node:assert/strict';

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

  /** Open a saved notebook; its kernel starts by itself. */
  async open(lab, name) {
    await this.page.goto(lab.notebook(name));
    await this.page.locator('.jp-NotebookPanel .jp-Cell').first().waitFor();
  }

  /**
   * Run all cells once the kernel is there: what is run in the moment it connects is lost, or run elsewhere.
   *
   * The notebook's indicator says "idle" also before there is any kernel, so the server is asked first.
   */
  async runAll() {
    const sessions = new URL('api/sessions', this.page.url().replace(/(lab|notebooks)\/.*$/, ''));
    const deadline = Date.now() + 60_000;
    while (!(await this._isConnected(sessions.href))) {
      assert.ok(Date.now() < deadline, 'no kernel is connected after a minute');
      await this.page.waitForTimeout(50);
    }
    await this.page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').waitFor({ timeout: 60_000 });
    await this.page.locator('.jp-Notebook .jp-Cell').first().click();
    await this.page.getByRole('menuitem', { name: 'Run', exact: true }).click();
    await this.page.getByRole('menuitem', { name: 'Run All Cells', exact: true }).click();
    await this.page.locator('.jp-InputPrompt', { hasText: /^\[\d+\]:$/ }).first().waitFor({ timeout: 60_000 });
  }

  /** Whether the page is connected with a kernel that waits for work. */
  async _isConnected(sessions) {
    const found = await (await this.page.request.get(sessions)).json();
    return found.some(
      ({ path, kernel }) => path.endsWith('.ipynb') && kernel?.connections > 0 && kernel.execution_state === 'idle'
    );
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
