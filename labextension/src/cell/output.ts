import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Panel as Box } from '@lumino/widgets';

import { MIME, shownBy } from './mime';
import type { IGround, Panel } from './panel';

/**
 * A cell's output of our mime type: brings the panel, which is loaded with the first of them, and tells it whether it
 * is in sight. Made by JupyterLab through the factory of the cell plugin.
 */
export class Output extends Box implements IRenderMime.IRenderer {
  constructor(private readonly _ground: IGround) {
    super();
    this.addClass('aiarts-Output');
    if (typeof IntersectionObserver !== 'undefined') {
      this._observer = new IntersectionObserver(entries => this._see(entries[entries.length - 1]!.isIntersecting));
      this._observer.observe(this.node);
    } else {
      this._inSight = true;
    }
    document.addEventListener('visibilitychange', this._look);
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const shown = shownBy(model.data[MIME]);
    const text = String(model.data['text/plain'] ?? '');
    if (shown === null) {
      this.node.textContent = text; // said by a newer version: what it says in words is there too
      return;
    }
    const { Panel: Made } = await import('./panel');
    if (this.isDisposed) {
      return;
    }
    this._panel?.dispose();
    this._panel = new Made(shown, this._ground, text);
    this.addWidget(this._panel);
    this._look();
  }

  override dispose(): void {
    this._observer?.disconnect();
    document.removeEventListener('visibilitychange', this._look);
    super.dispose();
  }

  private _see(inSight: boolean): void {
    this._inSight = inSight;
    this._look();
  }

  /** A tab behind others shows nothing to anybody. */
  private readonly _look = (): void => {
    if (this._panel && !this._panel.isDisposed) {
      this._panel.isSeen = this._inSight && document.visibilityState !== 'hidden';
    }
  };

  private _inSight = false;
  private readonly _observer: IntersectionObserver | null = null;
  private _panel: Panel | null = null;
}
