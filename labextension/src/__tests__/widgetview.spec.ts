/** What a panel of widgets says to its kernel: `view.js`, which runs wherever anywidget does. */
import { resolve } from 'path';

const { default: view } = jest.requireActual(
  resolve(__dirname, '../../../jupyter_aiarts/kernel/widgets/view.js')
) as { default: { render: (given: { model: Model; el: HTMLElement }) => () => void } };

/** The front end's half of the widget: what the kernel told, and what was sent to it. */
class Model {
  readonly sent: Array<{ seen: boolean }> = [];
  private readonly _told: Record<string, unknown> = { html: '', bars: [], lines: [], log_name: '', goes_on: true, answered: 0 };
  private readonly _heard = new Map<string, Set<() => void>>();

  get(name: string): unknown {
    return this._told[name];
  }

  on(event: string, heard: () => void): void {
    this._heard.set(event, (this._heard.get(event) ?? new Set()).add(heard));
  }

  off(event: string, heard: () => void): void {
    this._heard.get(event)?.delete(heard);
  }

  send(content: { seen: boolean }): void {
    this.sent.push(content);
  }

  /** The kernel says something. */
  tell(name: string, value: unknown): void {
    this._told[name] = value;
    this._heard.get(`change:${name}`)?.forEach(heard => heard());
  }

  get listeners(): number {
    return [...this._heard.values()].reduce((sum, all) => sum + all.size, 0);
  }
}

const HOUR = 3600_000;
let model: Model;
let remove: () => void;

beforeEach(() => {
  jest.useFakeTimers();
  model = new Model();
});

afterEach(() => {
  remove();
  expect(jest.getTimerCount()).toBe(0);
  expect(model.listeners).toBe(0);
  jest.useRealTimers();
});

const draw = (): void => {
  remove = view.render({ model, el: document.createElement('div') });
};

test('a kernel that answers is reminded that somebody looks', () => {
  draw();
  expect(model.sent).toEqual([{ seen: true }]);
  for (let answers = 1; answers <= 3; answers++) {
    model.tell('answered', answers);
    jest.advanceTimersByTime(20_000);
  }
  expect(model.sent).toEqual(new Array(4).fill({ seen: true }));
  remove();
  expect(model.sent.slice(4)).toEqual([{ seen: false }]);
});

test('a kernel that is busy for hours finds no heap of messages when its cell is over', () => {
  draw();
  jest.advanceTimersByTime(10 * HOUR);
  expect(model.sent).toEqual([{ seen: true }]);
  model.tell('answered', 1);
  jest.advanceTimersByTime(20_000);
  expect(model.sent).toHaveLength(2);
});

test('a kernel that says anything at all is not busy, should an answer be lost', () => {
  draw();
  model.tell('html', 'running');
  jest.advanceTimersByTime(20_000);
  expect(model.sent).toHaveLength(2);
});

test('of a job that is over the kernel hears nothing, until it goes on', () => {
  draw();
  model.tell('answered', 1);
  model.tell('goes_on', false);
  jest.advanceTimersByTime(10 * HOUR);
  document.dispatchEvent(new Event('visibilitychange'));
  expect(model.sent).toEqual([{ seen: true }]);
  expect(jest.getTimerCount()).toBe(0);
  model.tell('goes_on', true);
  expect(model.sent).toEqual([{ seen: true }, { seen: true }]);
  model.tell('goes_on', false);
  remove();
  expect(model.sent).toHaveLength(2);
});

test('a panel that is over from its first moment says nothing', () => {
  model.tell('goes_on', false);
  draw();
  jest.advanceTimersByTime(HOUR);
  expect(model.sent).toEqual([]);
});
