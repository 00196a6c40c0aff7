import { Dialog, Notification, showDialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import React from 'react';

/** JupyterLab cuts the text of a notification here, and has no way to the rest; what to do stands at the end of ours. */
const LONGEST = 140;

type Options = Pick<Notification.IOptions<never>, 'actions' | 'autoClose'>;

/** Tell by a notification; all of a text that it has no room for is one press away. What went wrong stays until it is closed. */
export function toast(text: string, kind: Notification.TypeOptions, trans: TranslationBundle, options: Options = {}): void {
  const whole = { label: trans.__('Show all of it'), callback: () => void showText(text, trans) };
  const actions = [...(options.actions ?? []), ...(text.length > LONGEST ? [whole] : [])];
  const autoClose = kind === 'error' || kind === 'warning' ? false : 5000;
  Notification.emit(text, kind, { autoClose, ...options, actions });
}

/** Lines in a dialog, as text: what somebody calls a job is no markup. */
export function linesBody(lines: ReadonlyArray<string>): ReactWidget {
  const paragraphs = lines.map((line, index) => React.createElement('p', { key: index }, line));
  const body = ReactWidget.create(React.createElement(React.Fragment, null, ...paragraphs));
  body.addClass('aiarts-Question');
  return body;
}

async function showText(text: string, trans: TranslationBundle): Promise<void> {
  const close = Dialog.okButton({ label: trans.__('Close') });
  await showDialog({ title: trans.__('The whole message'), body: linesBody(text.split('\n')), buttons: [close] });
}
