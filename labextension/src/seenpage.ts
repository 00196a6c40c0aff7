import { ReactWidget } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';

import '../style/pages.css';

/** What a page shows; it asks for news only while it is seen. */
export interface ISeen {
  show(seen: boolean): void;
  dispose(): void;
}

/** A page of ours in the main area: it tells its model whether somebody sees it. */
export abstract class SeenPage<M extends ISeen> extends ReactWidget {
  constructor(readonly model: M) {
    super();
    this.addClass('aiarts-Page');
    this.title.closable = true;
    document.addEventListener('visibilitychange', this._look);
  }

  override dispose(): void {
    document.removeEventListener('visibilitychange', this._look);
    this.model.dispose();
    super.dispose();
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this._isShown = this.isVisible;
    this._look();
  }

  protected override onAfterShow(): void {
    this._isShown = true;
    this._look();
  }

  protected override onAfterHide(): void {
    this._isShown = false;
    this._look();
  }

  /** Nor is it seen in a browser tab that is not: six connections are all that a browser has for a server, in all tabs. */
  private readonly _look = (): void => {
    this.model.show(this._isShown && !document.hidden);
  };

  private _isShown = false;
}
