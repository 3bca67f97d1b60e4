/** @file One progress line on a terminal's stderr, redrawn in place; nothing at all where nobody watches. */

/** The little of a stream that is needed here. */
export interface ProgressStream {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

const redrawMs = 100;

export class ProgressBar {
  private lastDraw = Number.NEGATIVE_INFINITY;
  private started: number;

  constructor(
    private readonly stream: ProgressStream,
    private label: string,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.started = now();
  }

  /** `fraction` in 0..1; redrawn at most ten times a second, so call it as often as you like. */
  update(fraction: number, detail = '', label = this.label): void {
    if (!this.stream.isTTY) return;
    const time = this.now();
    if (label === this.label && fraction < 1 && time - this.lastDraw < redrawMs) return;
    if (label !== this.label) this.started = time;
    this.label = label;
    this.lastDraw = time;
    this.stream.write(`\r\u001b[2K${this.line(Math.min(1, Math.max(0, fraction)), detail, time)}`);
  }

  /** Removes the line. Call it before printing anything else. */
  clear(): void {
    if (this.stream.isTTY && this.lastDraw !== Number.NEGATIVE_INFINITY) this.stream.write('\r\u001b[2K');
  }

  private line(fraction: number, detail: string, time: number): string {
    const width = Math.max(20, (this.stream.columns ?? 80) - 1);
    const seconds = (time - this.started) / 1000;
    // Below one percent the estimate is noise.
    const left = fraction > 0.01 && fraction < 1 ? ` ${duration((seconds * (1 - fraction)) / fraction)} left` : '';
    const cells = 20;
    const full = Math.round(fraction * cells);
    const percent = `${Math.round(fraction * 100)}`.padStart(3);
    const bar = `${'#'.repeat(full)}${'-'.repeat(cells - full)}`;
    return `${this.label} [${bar}] ${percent}%${left}${detail ? `  ${detail}` : ''}`.slice(0, width);
  }
}

/** 42 s, 3 min 5 s, 2 h 10 min. */
export function duration(seconds: number): string {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
}
