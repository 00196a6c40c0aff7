import type { TranslationBundle } from '@jupyterlab/translation';

import type { Error as Told, Problem } from './api';

/** A request that came to nothing, in the server's words: what happened, what to do, and which keys are wrong. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    told: Told
  ) {
    super(told.message);
    this.code = told.code;
    this.hint = told.hint;
    this.problems = told.problems ?? [];
  }

  readonly code: string;
  readonly hint: string;
  readonly problems: ReadonlyArray<Problem>;
}

/** The code of an answer that is not of AIArts. */
const FOREIGN = 'http-error';

/** Nobody answered: the server is down, or the network between is. */
export class Unanswered extends Error {}

/** Nobody has answered so far, and we no longer wait: what was asked may still happen. */
export class Late extends Unanswered {}

/** Somebody else answered: a proxy, or a page on which to log in. */
export class Foreign extends Error {}

/** An answer that came in pieces broke off; whoever reads it asks again. */
export class Broken extends Error {}

/** Whether a request was given up by whoever asked; no news to anybody. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** What happened and what to do, for a toast or a line in a page; never raw JSON. */
export function errorText(error: unknown, trans: TranslationBundle): string {
  if (error instanceof ApiError) {
    const problems = error.problems.map(one => `${one.key}: ${one.message}`);
    const hint = isLogin(error) ? loginHint(error, trans) : error.hint || stepAfter(error, trans);
    return [error.message, ...problems, hint].filter(Boolean).join(' ');
  }
  if (error instanceof Late) {
    return trans.__('The server has not answered for a minute. What was asked may still happen: look before you try again.');
  }
  if (error instanceof Unanswered) {
    return trans.__('The server does not answer. Check that it runs, then try again; nothing was changed.');
  }
  if (error instanceof Foreign) {
    return trans.__('What came back is not an answer of AIArts. Your login may have ended: reload the page and log in again.');
  }
  if (error instanceof Broken) {
    return trans.__('The connection to the server broke; trying again.');
  }
  return error instanceof Error ? error.message : String(error);
}

/** Whether somebody answered who wants a login first. */
export function isLogin(error: unknown): boolean {
  return error instanceof Foreign || (error instanceof ApiError && (error.status === 401 || error.status === 403));
}

/** Whether nobody is there who could answer any question: it is not about what was asked. */
export function isNobody(error: unknown): boolean {
  return error instanceof Unanswered || error instanceof Foreign || (error instanceof ApiError && error.status === 401);
}

/** What to do where the answer itself does not say it: a proxy's page, or a mistake of ours. */
function stepAfter(error: ApiError, trans: TranslationBundle): string {
  return error.status >= 500
    ? trans.__('Try again; if this stays, the log of the server says more.')
    : error.code === FOREIGN
      ? trans.__('Something between this page and AIArts answered. Reload the page, then try again.')
      : '';
}

/** Whether the server says that there is no such thing; a 404 of a proxy, while the server restarts, says nothing of it. */
export function isGone(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404 && error.code !== FOREIGN;
}

function loginHint(error: ApiError, trans: TranslationBundle): string {
  return error.hint || trans.__('Your login may have ended: reload the page and log in again.');
}

/** The body of a success; throws `Foreign`. */
export function readAnswer(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Foreign('not an answer of AIArts');
  }
}

/** The body of an answer that is no success; a proxy's page gives its status alone. */
export function readError(status: number, text: string): ApiError {
  try {
    const told = JSON.parse(text) as Partial<Told>;
    if (typeof told.code === 'string' && typeof told.message === 'string') {
      return new ApiError(status, { hint: '', ...told, code: told.code, message: told.message });
    }
  } catch {
    // Not ours: told below.
  }
  return new ApiError(status, { code: FOREIGN, message: `HTTP ${status}`, hint: '' });
}
