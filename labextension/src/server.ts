import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

import type { IServer } from './manager';
import { parseHealth, type IHealth } from './wire';

/** The server's AIArts routes, reached with the page's own login; made by the manager plugin. */
export class AiartsServer implements IServer {
  /** `lang` is the page's language, which need not be the browser's: explanations come in it. */
  constructor(
    private readonly _settings: ServerConnection.ISettings,
    private readonly _lang: 'en' | 'zh'
  ) {}

  openStream(): WebSocket {
    const { appendToken, token, wsUrl, WebSocket } = this._settings;
    const login = appendToken && token ? { token } : {};
    const query = URLExt.objectToQueryString({ lang: this._lang, ...login });
    return new WebSocket(URLExt.join(wsUrl, 'aiarts', 'stream') + query);
  }

  async health(): Promise<IHealth> {
    const url = URLExt.join(this._settings.baseUrl, 'aiarts', 'health');
    const response = await ServerConnection.makeRequest(url, {}, this._settings);
    if (!response.ok) {
      throw await ServerConnection.ResponseError.create(response);
    }
    return parseHealth(await response.json());
  }
}
