/** @file Dates of the fixed data. The world's today never moves, so that tasks and answers stay the same for ever. */

/** 2024-06-30, as days since 1970-01-01. */
export const TODAY = 19904;
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

export interface Day {
  readonly year: number;
  /** 1..12 */
  readonly month: number;
  readonly day: number;
}

export function dayOf(days: number): Day {
  const date = new Date(days * 86_400_000);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

/** `2024-06-30` */
export function isoDay(days: number): string {
  const { year, month, day } = dayOf(days);
  return `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}

/** `Jun 30, 2024` */
export function shortDay(days: number): string {
  const { year, month, day } = dayOf(days);
  return `${MONTHS[month - 1]} ${day}, ${year}`;
}
