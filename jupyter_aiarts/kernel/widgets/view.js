// Draws a panel's bars with their lines, its words and the end of its log. The kernel only sends what it knows; what is
// not known is said and never drawn as 0. Tells the kernel whether anybody sees it, so that it need not ask for nobody.

const AGAIN = 20_000; // milliseconds after which it is said again: a page that was closed says nothing
const SVG = 'http://www.w3.org/2000/svg';
const seen = new WeakMap(); // model: the views of it that are in sight
const unanswered = new WeakSet(); // models whose kernel has not said a word since: it is busy, and messages would pile up

function tell(model, el, isSeen) {
  const views = seen.get(model) ?? new Set();
  seen.set(model, views);
  const before = views.size > 0;
  isSeen ? views.add(el) : views.delete(el);
  if (model.get('goes_on') && (isSeen || before !== views.size > 0)) {
    unanswered.add(model);
    model.send({ seen: views.size > 0 });
  }
}

/**
 * Calls `tell` when the element comes into sight and goes, and now and then while it is there. What is over is not asked
 * for again, so nothing is said of it until it goes on.
 */
function watch(model, el) {
  let inSight = typeof IntersectionObserver === 'undefined';
  let timer = 0;
  const remind = () => unanswered.has(model) || tell(model, el, true);
  const look = () => {
    clearInterval(timer);
    const isSeen = inSight && document.visibilityState !== 'hidden';
    tell(model, el, isSeen);
    timer = isSeen && model.get('goes_on') ? setInterval(remind, AGAIN) : 0;
  };
  const observer = inSight
    ? null
    : new IntersectionObserver(entries => {
        inSight = entries[entries.length - 1].isIntersecting;
        look();
      });
  observer?.observe(el);
  document.addEventListener('visibilitychange', look);
  model.on('change:goes_on', look);
  if (inSight) {
    look();
  }
  return () => {
    observer?.disconnect();
    document.removeEventListener('visibilitychange', look);
    model.off('change:goes_on', look);
    inSight = false;
    look();
  };
}

function made(name, parent) {
  const node = document.createElement('div');
  node.className = `aiarts-View-${name}`;
  parent.append(node);
  return node;
}

function share(value, whole) {
  return typeof value === 'number' && whole > 0 ? Math.min(Math.max(value / whole, 0), 1) : null;
}

/** A line in a box of 60 by 20, now at its right; it breaks where nothing is known, and a moment alone is a dot. */
function path(points, whole) {
  const first = 60 - points.length;
  let line = '';
  let isDown = false;
  points.forEach((value, place) => {
    const part = share(value, whole);
    if (part === null) {
      isDown = false;
      return;
    }
    const isAlone = !isDown && typeof points[place + 1] !== 'number';
    line += `${isDown ? 'L' : 'M'}${first + place} ${(19 - 18 * part).toFixed(1)}${isAlone ? 'h.5' : ''}`;
    isDown = true;
  });
  return line;
}

class Bar {
  constructor(parent) {
    this.node = made('bar', parent);
    this.label = made('label', this.node);
    this.meter = made('meter', this.node);
    this.fill = made('fill', this.meter);
    this.text = made('text', this.node);
    const chart = document.createElementNS(SVG, 'svg');
    chart.setAttribute('viewBox', '0 0 60 20');
    chart.setAttribute('preserveAspectRatio', 'none');
    chart.setAttribute('class', 'aiarts-View-line');
    chart.setAttribute('aria-hidden', 'true');
    this.line = document.createElementNS(SVG, 'path');
    chart.append(this.line);
    this.node.append(chart);
  }

  show({ label, text, value, whole, points }) {
    const part = share(value, whole);
    this.label.textContent = label;
    this.text.textContent = text;
    this.fill.style.width = `${100 * (part ?? 0)}%`;
    this.meter.setAttribute('aria-label', label);
    if (part === null) {
      this.meter.setAttribute('role', 'img'); // a meter has to have a value
      this.meter.removeAttribute('aria-valuenow');
    } else {
      this.meter.setAttribute('role', 'meter');
      this.meter.setAttribute('aria-valuenow', String(Math.round(100 * part)));
    }
    this.meter.setAttribute('aria-valuetext', text);
    this.line.setAttribute('d', path(points, whole));
  }
}

function render({ model, el }) {
  el.classList.add('aiarts-View');
  const words = made('words', el);
  const board = made('bars', el);
  const log = document.createElement('pre');
  log.className = 'aiarts-View-log';
  log.tabIndex = 0;
  log.setAttribute('role', 'log');
  log.setAttribute('aria-live', 'off');
  el.append(log);
  const bars = new Map();

  const drawWords = () => {
    words.innerHTML = model.get('html'); // made by the kernel, which escapes what is not its own
  };
  const drawBars = () => {
    const told = model.get('bars');
    const keys = new Set(told.map(({ key }) => key));
    for (const [key, bar] of bars) {
      if (!keys.has(key)) {
        bar.node.remove();
        bars.delete(key);
      }
    }
    for (const one of told) {
      const bar = bars.get(one.key) ?? new Bar(board);
      bars.set(one.key, bar);
      bar.show(one);
    }
  };
  const drawLog = () => {
    const isAtEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 4;
    const lines = model.get('lines').map(({ text, stream }) => {
      const line = document.createElement('div');
      line.textContent = text;
      line.dataset.stream = stream;
      return line;
    });
    log.replaceChildren(...lines);
    log.hidden = lines.length === 0;
    log.setAttribute('aria-label', model.get('log_name'));
    if (isAtEnd) {
      log.scrollTop = log.scrollHeight;
    }
  };
  const answered = () => unanswered.delete(model);
  const draws = { 'change:html': drawWords, 'change:bars': drawBars, 'change:lines': drawLog };
  const hears = [...Object.entries(draws), ...['change:answered', ...Object.keys(draws)].map(name => [name, answered])];
  hears.forEach(([name, heard]) => model.on(name, heard));
  Object.values(draws).forEach(draw => draw());
  const rest = watch(model, el);
  return () => {
    rest();
    hears.forEach(([name, heard]) => model.off(name, heard));
  };
}

export default { render };
