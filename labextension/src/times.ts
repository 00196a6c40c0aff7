import type { Attempt } from './api';

/** A length of time as a clock shows it: 0:07, 12:34, 3:12:34; from two days on 2 d 3 h. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const [days, hours, minutes] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const two = (number: number): string => String(number).padStart(2, '0');
  if (days >= 2) {
    return `${days} d ${hours % 24} h`;
  }
  const rest = `${two(seconds % 60)}`;
  return hours > 0 ? `${hours}:${two(minutes)}:${rest}` : `${minutes}:${rest}`;
}

/** How long a run took or takes; empty where it has not begun. A clock that is wrong gives 0, never less. */
export function elapsed(started: string | null, ended: string | null, now: number): string {
  if (started === null) {
    return '';
  }
  const from = Date.parse(started);
  const until = ended === null ? now : Date.parse(ended);
  return Number.isNaN(from) || Number.isNaN(until) ? '' : duration(until - from);
}

/**
 * How long a run has run in all: what it was paused in between is not counted; empty where that is not known. A length
 * that is still growing is given as long as it goes on.
 */
export function ran(job: IRan, now: number): string {
  const { attempts = [], started, ended } = job;
  if (attempts.length === 0) {
    return elapsed(started, ended, now);
  }
  const last = attempts.length - 1;
  const spans = attempts.map(({ queued = null, started = null, ended = null }, index) =>
    started === null && (ended !== null || (index === last && queued !== null))
      ? 0
      : Date.parse(ended ?? (index === last ? new Date(now).toISOString() : '')) - Date.parse(started ?? '')
  );
  const sum = spans.reduce((one, other) => one + Math.max(0, other), 0);
  return Number.isNaN(sum) ? '' : duration(sum);
}

/** What is known of when a run ran; `attempts` of one that was paused. */
export interface IRan {
  readonly started: string | null;
  readonly ended: string | null;
  readonly attempts?: ReadonlyArray<Attempt>;
}

/** The page's language, which need not be the browser's. */
function language(): string | undefined {
  const lang = document.documentElement.lang.replace('_', '-');
  return lang && Intl.DateTimeFormat.supportedLocalesOf(lang.split('-')[0]!).length > 0 ? lang : undefined;
}

/** The time of day as the page's language writes it. */
export function clock(time: Date): string {
  return time.toLocaleTimeString(language());
}

/** The date and time of day; the date only where it is not today's. What is no time is shown as it is. */
export function when(text: string): string {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) {
    return text;
  }
  return time.toDateString() === new Date().toDateString() ? clock(time) : time.toLocaleString(language());
}
