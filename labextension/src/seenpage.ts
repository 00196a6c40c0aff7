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
  }

  override dispose(): void {
    this.model.dispose();
    super.dispose();
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this.model.show(this.isVisible);
  }

  protected override onAfterShow(): void {
    this.model.show(true);
  }

  protected override onAfterHide(): void {
    this.model.show(false);
  }
}
