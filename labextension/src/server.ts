import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

import { isAbort, Late, readAnswer, readError, Unanswered } from './errors';
import type { IServer } from './manager';
import type { IAnswer, IRequest, Query } from './tokens';
import { parseHealth, type IHealth } from './wire';

/** Milliseconds after which nobody is going to answer; the slowest question, a dry run on a busy cluster, takes seconds. */
const PATIENCE = 60_000;

/** Milliseconds after which an answer says nothing about the time: its date is of when the question came. */
const SOON = 2000;

/** The server's AIArts routes, reached with the page's own login; made by the manager plugin. */
export class AiartsServer implements IServer {
  /** `lang` is the page's language, which need not be the browser's: explanations come in it. */
  constructor(
    private readonly _settings: ServerConnection.ISettings,
    private readonly _lang: 'en' | 'zh'
  ) {}

  /** By how many milliseconds the server's clock is ahead of this page's, as far as it said. */
  clockOffset = 0;

  openStream(): WebSocket {
    const { appendToken, token, wsUrl, WebSocket } = this._settings;
    const login = appendToken && token ? { token } : {};
    return new WebSocket(this._address(wsUrl, 'stream', login));
  }

  async health(): Promise<IHealth> {
    return parseHealth(await this.ask('health'));
  }

  url(path: string, query: Query = {}): string {
    return this._address(this._settings.baseUrl, path, query);
  }

  /** Ask a route; throws `ApiError` with the server's words, or `Unanswered` where none come in time. */
  async ask(path: string, request: IRequest = {}): Promise<unknown> {
    const { text, headers } = await this.read(path, request);
    // What a deletion could not remove has no other place than a header.
    return text === '' ? decodeURIComponent(headers.get('X-Aiarts-Left') ?? '') : readAnswer(text);
  }

  /** The whole answer of a route with its headers; throws as `ask` does. */
  async read(path: string, request: IRequest = {}): Promise<IAnswer> {
    const patience = new AbortController();
    const timer = window.setTimeout(() => patience.abort(), PATIENCE);
    const giveUp = (): void => patience.abort();
    request.signal?.addEventListener('abort', giveUp);
    try {
      const response = await this.fetch(path, { ...request, signal: patience.signal });
      return { headers: response.headers, text: await wholeText(response) };
    } catch (error) {
      // Given up by the clock and not by whoever asked: nobody answered.
      throw isAbort(error) && !request.signal?.aborted ? new Late('the server does not answer in time') : error;
    } finally {
      window.clearTimeout(timer);
      request.signal?.removeEventListener('abort', giveUp);
    }
  }

  async fetch(path: string, { method = 'GET', query, body, signal }: IRequest = {}): Promise<Response> {
    const json = { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } };
    const response = await this._send(this.url(path, query), {
      method,
      cache: 'no-store',
      ...(signal ? { signal } : {}),
      ...(body === undefined ? {} : json)
    });
    if (!response.ok) {
      throw readError(response.status, await response.text());
    }
    return response;
  }

  private _address(base: string, path: string, query: Query): string {
    const given = Object.entries<Query[string]>({ ...query, lang: this._lang }).flatMap(([key, value]) =>
      value === null || value === undefined || value === false ? [] : [[key, value === true ? '1' : String(value)]]
    );
    const where = URLExt.join(base, 'aiarts', ...path.split('/').map(encodeURIComponent));
    return where + URLExt.objectToQueryString(Object.fromEntries(given) as Record<string, string>);
  }

  private async _send(url: string, init: RequestInit): Promise<Response> {
    const sent = Date.now();
    try {
      const response = await ServerConnection.makeRequest(url, init, this._settings);
      if (Date.now() - sent < SOON) {
        this._lookAtClock(response.headers.get('Date'));
      }
      return response;
    } catch (error) {
      // JupyterLab wraps what fetch threw, a request that was given up included.
      if (init.signal?.aborted) {
        throw new DOMException('given up', 'AbortError');
      }
      throw isAbort(error) ? error : new Unanswered('the server does not answer');
    }
  }

  private _lookAtClock(date: string | null): void {
    const said = Date.parse(date ?? '');
    if (!Number.isNaN(said)) {
      const offset = said + 500 - Date.now(); // the header has whole seconds
      this.clockOffset = Math.abs(offset) < 2000 ? 0 : offset;
    }
  }
}

/** Browsers say that a body broke off by a TypeError, each in words of its own. */
async function wholeText(response: Response): Promise<string> {
  try {
    return await response.text();
  } catch (error) {
    throw error instanceof TypeError ? new Unanswered('the answer broke off') : error;
  }
}
