/**
 * A JupyterLab of its own: own home, own port, own token. Tests start, stop and restart it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const JUPYTER = fileURLToPath(new URL('../../.venv/bin/jupyter', import.meta.url));
const TOKEN = 'ui-test';
const START_SECONDS = 60;
const END_SECONDS = 20;

/**
 * A port that nobody listened on a moment ago; not one of those that the system hands out by itself, or a kernel or the
 * browser might have it before JupyterLab does; nor 10080, to which no browser connects.
 */
async function freePort() {
  const server = createServer();
  for (;;) {
    const port = 11_000 + Math.floor(Math.random() * 9_000);
    const isFree = new Promise(resolve => server.once('listening', () => resolve(true)).once('error', () => resolve(false)));
    server.listen(port, '127.0.0.1');
    if (await isFree) {
      server.close();
      await once(server, 'close');
      return port;
    }
    server.removeAllListeners();
  }
}

/** The machine's environment without anything that says where Jupyter or AIArts keep their files. */
function environment(home) {
  const kept = Object.entries(process.env).filter(([name]) => !/^(JUPYTER|JPY|AIARTS|IPYTHON)/.test(name));
  const path = `${join(home, 'tools')}:${process.env.PATH}`; // where a test puts what stands for a driver's tool
  return { ...Object.fromEntries(kept), HOME: home, XDG_RUNTIME_DIR: join(home, 'run'), PATH: path };
}

export class Lab {
  /**
   * @param {{app?: 'lab' | 'notebook', extension?: boolean, locale?: string, theme?: string, devices?: object,
   * args?: string[], prepare?: (lab: Lab) => Promise<void>}} options JupyterLab or Notebook 7; whether our server
   * extension is on; the UI's language and theme; the cards of this machine; further arguments of `jupyter lab`; what
   * to do before it starts
   */
  static async start({
    app = 'lab',
    extension = true,
    locale = null,
    theme = null,
    devices = null,
    args = [],
    prepare = null
  } = {}) {
    const lab = new Lab(await mkdtemp(join(tmpdir(), 'aiarts-')), await freePort(), extension);
    Object.assign(lab, { app, args });
    await lab.writeSettings(locale);
    if (devices) {
      await lab.write('.jupyter/jupyter_server_config.json', { LocalEngine: { devices } });
    }
    if (theme) {
      await lab.write('.jupyter/lab/user-settings/@jupyterlab/apputils-extension/themes.jupyterlab-settings', { theme });
    }
    await prepare?.(lab);
    await lab.up();
    return lab;
  }

  constructor(home, port, extension) {
    Object.assign(this, { home, port, extension, app: 'lab', output: '', token: TOKEN });
    this.url = `http://127.0.0.1:${port}/`;
  }

  /** The page, logged in. */
  get page() {
    return `${this.url}${this.app === 'lab' ? 'lab' : 'tree'}?token=${this.token}`;
  }

  /** The page of a saved notebook, logged in. */
  notebook(name) {
    return `${this.url}${this.app === 'lab' ? 'lab/tree' : 'notebooks'}/${name}?token=${this.token}`;
  }

  async writeSettings(locale) {
    await mkdir(join(this.home, 'work'));
    await mkdir(join(this.home, 'run'), { mode: 0o700 });
    // The question about news covers the page, and asking for them needs the network.
    await this.write('.jupyter/labconfig/page_config.json', {
      disabledExtensions: { '@jupyterlab/apputils-extension:announcements': true }
    });
    if (locale) {
      await this.write('.jupyter/lab/user-settings/@jupyterlab/translation-extension/plugin.jupyterlab-settings', { locale });
    }
  }

  /** Write a file below the home folder, objects as JSON. */
  async write(name, content) {
    const path = join(this.home, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  }

  /** Start the server and wait until it answers; also used to start it again on the same port. */
  async up() {
    const args = [this.app, '--no-browser', '--ip=127.0.0.1', `--port=${this.port}`, '--ServerApp.port_retries=0',
      `--IdentityProvider.token=${this.token}`, `--ServerApp.jpserver_extensions={'jupyter_aiarts': ${this.extension ? 'True' : 'False'}}`, ...(this.args ?? [])];
    if (process.getuid?.() === 0) {
      args.push('--allow-root');
    }
    this.process = spawn(JUPYTER, args, { cwd: join(this.home, 'work'), env: environment(this.home) });
    this.process.stdout.on('data', data => (this.output += data));
    this.process.stderr.on('data', data => (this.output += data));
    await this.answers();
  }

  async answers() {
    const deadline = Date.now() + START_SECONDS * 1000;
    while (Date.now() < deadline && this.process.exitCode === null) {
      const response = await fetch(`${this.url}api/status?token=${this.token}`).catch(() => null);
      if (response?.ok) {
        return;
      }
      await new Promise(resolve => setTimeout(resolve, 100));
    }
    throw new Error(`JupyterLab did not start:\n${this.output}`);
  }

  /** Ask a route of ours; the answer's JSON, or an error with what the server said. */
  async ask(method, path, body) {
    const response = await fetch(`${this.url}aiarts/${path}`, {
      method,
      headers: { Authorization: `token ${this.token}`, 'Content-Type': 'application/json' },
      body: body && JSON.stringify(body)
    });
    const text = await response.text();
    if (!response.ok) {
      throw new Error(`${method} ${path}: ${response.status} ${text}\n${this.output}`);
    }
    return text ? JSON.parse(text) : null;
  }

  /**
   * Wait until the server keeps a layout with this page, or panel, that is as wanted: JupyterLab sends what a reload
   * begins with a while after it changed.
   */
  async keepsLayout(name, isWanted = () => true) {
    const holds = ({ data }) => {
      const layout = data['layout-restorer:data'] ?? {};
      return JSON.stringify(layout).includes(name) && isWanted(data[name]?.data ?? {}, layout);
    };
    for (;;) {
      const answer = await fetch(`${this.url}lab/api/workspaces?token=${this.token}`);
      const { workspaces } = await answer.json();
      if (workspaces.values.some(holds)) {
        return;
      }
      await new Promise(resolve => setTimeout(resolve, 100));
    }
  }

  /** Stop whatever still runs, and wait until it has ended. */
  async endJobs() {
    const open = async () => (await this.ask('GET', 'jobs')).filter(job => job.moves.includes('stop'));
    const stop = ({ id }) =>
      this.ask('POST', `jobs/${id}/stop`).catch(error => {
        if (!error.message.startsWith(`POST jobs/${id}/stop: 409 `)) {
          throw error; // 409: it has ended by itself since it was listed
        }
      });
    await Promise.all((await open()).map(stop));
    while ((await open()).length > 0) {
      await new Promise(resolve => setTimeout(resolve, 100));
    }
  }

  async down() {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      const ended = once(this.process, 'exit');
      this.process.kill('SIGTERM');
      // Now and then a thread of JupyterLab's own file manager keeps a server from ending that serves no more.
      const timer = setTimeout(() => this.process.kill('SIGKILL'), END_SECONDS * 1000);
      await ended;
      clearTimeout(timer);
    }
  }

  async remove() {
    await this.down();
    await rm(this.home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}
