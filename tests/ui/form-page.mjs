/**
 * The submit form as a user sees it.
 */
export class FormPage {
  constructor(page, title = 'New job') {
    this.page = page;
    this.form = page.getByRole('form', { name: title });
    this.verdict = this.form.getByRole('region', { name: 'What would happen' });
  }

  field(name) {
    return this.form.getByLabel(name, { exact: true });
  }

  async fill(fields) {
    for (const [name, text] of Object.entries(fields)) {
      await this.field(name).fill(text);
    }
  }

  /** Paste as the keyboard would. */
  async paste(name, text) {
    await this.field(name).evaluate((element, pasted) => {
      const data = new DataTransfer();
      data.setData('text/plain', pasted);
      element.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
    }, text);
  }

  /** Wait until the server has said `text` of the draft. */
  async isJudged(text) {
    await this.verdict.getByText(text).first().waitFor();
  }

  async submit(label = 'Submit') {
    await this.form.getByRole('button', { name: label, exact: true }).click();
  }
}
