/** @file How numbers are written: short, with their unit, and never a rate without its interval. */
import type { Rate } from '../../worker/protocol';

const minus = '\u2212';
const dash = '\u2013';

/** `49%`. One decimal below 1 %, so that a rare event is not shown as nothing. */
export function percent(share: number): string {
  if (!Number.isFinite(share)) return '?';
  const value = share * 100;
  return value > 0 && value < 1 ? `${value.toFixed(1)}%` : `${Math.round(value)}%`;
}

/** `42–56%`: the 95 % interval of a rate. */
export function interval({ low, high }: Pick<Rate, 'low' | 'high'>): string {
  return `${Math.round(low * 100)}${dash}${Math.round(high * 100)}%`;
}

/** `49% (42–56%, 200 tasks)`. */
export function rate(value: Rate): string {
  return `${percent(value.rate)} (${interval(value)}, ${value.episodes} tasks)`;
}

/** `+27 points`, the difference of two rates in percentage points. */
export function points(before: number, after: number): string {
  const difference = Math.round((after - before) * 100);
  return `${difference < 0 ? minus : '+'}${Math.abs(difference)} points`;
}

/** Three significant digits, no needless zeros: `0.0123`, `1.5`, `48,210`, `3.0e-5`. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return '?';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size < 1e-4) return value.toExponential(1).replace('-', minus);
  if (size >= 1000) return Math.round(value).toLocaleString('en-US').replace('-', minus);
  return String(Number(value.toPrecision(3))).replace('-', minus);
}

export function count(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** `1 turn`, `12 turns`. */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

export function bytes(value: number): string {
  if (value < 1024) return `${Math.round(value)} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  let size = value / 1024;
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit++;
  }
  return `${size >= 100 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`;
}

/** `45 s`, `3 min`, `1 h 20 min`: as exact as a forecast can be. */
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds) || seconds < 0) return '?';
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const rest = minutes % 60;
  return rest === 0 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 60)} h ${rest} min`;
}

/** `3 min ago`; the clock is passed in so that it can be tested. */
export function ago(iso: string, now: number): string {
  const then = Date.parse(iso);
  if (Number.isNaN(then)) return 'at an unknown time';
  const seconds = (now - then) / 1000;
  if (seconds < 60) return 'just now';
  if (seconds < 86_400) return `${duration(seconds)} ago`;
  return `${plural(Math.round(seconds / 86_400), 'day')} ago`;
}

/** The chance the agent gave a token: `exp(log-probability)` as a percentage. */
export function chance(logProb: number): string {
  return percent(Math.exp(Math.min(0, logProb)));
}
