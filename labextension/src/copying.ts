import { Dialog, showDialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import React from 'react';

/**
 * Put a text on the system's clipboard; answers whether it is there. Browsers forbid it where nobody has just pressed
 * something, and some altogether. JupyterLab's own way does not tell, and where it was forbidden, the next thing that
 * somebody copies themselves becomes our text.
 */
export async function copyText(text: string): Promise<boolean> {
  if (copyNow(text)) {
    return true;
  }
  try {
    await navigator.clipboard.writeText(text); // there is none where the page came without TLS
    return true;
  } catch {
    return false;
  }
}

/** Copy a text, or show it to be copied by hand; answers whether it was copied in the end. */
export async function copyOrShow(text: string, trans: TranslationBundle): Promise<boolean> {
  while (!(await copyText(text))) {
    const { button } = await showDialog({
      title: trans.__('The browser did not let this page copy'),
      body: textBody(text, trans.__('To be copied by hand')),
      buttons: [Dialog.cancelButton({ label: trans.__('Close') }), Dialog.okButton({ label: trans.__('Copy') })]
    });
    if (!button.accept) {
      return false;
    }
  }
  return true;
}

/** The old way, which works without TLS too, but only at once when somebody presses something. */
function copyNow(text: string): boolean {
  let isPut = false;
  const put = (event: ClipboardEvent): void => {
    event.preventDefault();
    event.stopImmediatePropagation();
    event.clipboardData?.setData('text/plain', text);
    isPut = event.clipboardData !== null;
  };
  const giveBack = select(text);
  document.addEventListener('copy', put, true);
  try {
    return document.execCommand('copy') && isPut;
  } finally {
    document.removeEventListener('copy', put, true);
    giveBack();
  }
}

/** Browsers copy only where something is selected; answers how to select again what was. */
function select(text: string): () => void {
  const span = document.createElement('span');
  span.textContent = text;
  span.ariaHidden = 'true';
  span.className = 'aiarts-Copied';
  document.body.append(span);
  const selection = document.getSelection();
  const before = Array.from({ length: selection?.rangeCount ?? 0 }, (_, at) => selection!.getRangeAt(at));
  const range = document.createRange();
  range.selectNodeContents(span);
  selection?.removeAllRanges();
  selection?.addRange(range);
  return () => {
    selection?.removeAllRanges();
    before.forEach(one => selection?.addRange(one));
    span.remove();
  };
}

function textBody(text: string, label: string): ReactWidget {
  const field = { value: text, readOnly: true, rows: 12, 'aria-label': label, className: 'jp-mod-styled' };
  const body = ReactWidget.create(React.createElement('textarea', field));
  body.addClass('aiarts-ByHand');
  return body;
}
