/** @file How far a download is, how fast, and how long it will take: the rate of the last seconds, not of all. */

export interface DownloadProgress {
  /** The file at work. */
  file: string;
  /** `checking` = hashing what an earlier download left. */
  phase: 'checking' | 'fetching';
  /** Bytes of all files that are here, and of all files. */
  loaded: number;
  total: number;
  bytesPerSecond: number;
  /** Null until there is a rate. */
  secondsLeft: number | null;
}

const WINDOW_MS = 5000;
const EVERY_MS = 200;

export class ProgressMeter {
  /** Time and bytes fetched since the start. */
  private samples: { at: number; fetched: number }[] = [];
  private fetched = 0;
  private loaded = 0;
  private lastReport = Number.NEGATIVE_INFINITY;
  private lastFile = '';

  /** @param now Milliseconds. */
  constructor(
    private readonly total: number,
    private readonly report: (progress: DownloadProgress) => void,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** @param loaded Bytes of all files. Reported at most five times a second, but a file's first and `last` always. */
  at(file: string, phase: DownloadProgress['phase'], loaded: number, last = false): void {
    const at = this.now();
    if (phase === 'fetching' && loaded > this.loaded) this.fetched += loaded - this.loaded;
    this.loaded = loaded;
    // Pauses and checks are no slowness of the network.
    if (phase === 'checking') this.samples = [];
    this.samples.push({ at, fetched: this.fetched });
    if (!last && file === this.lastFile && at - this.lastReport < EVERY_MS) {
      if (this.samples.length > 1000) this.samples.splice(1, this.samples.length - 2);
      return;
    }
    this.lastReport = at;
    this.lastFile = file;
    while (this.samples.length > 2 && this.samples[1].at <= at - WINDOW_MS) this.samples.shift();
    const [first] = this.samples;
    const seconds = (at - first.at) / 1000;
    const bytesPerSecond = seconds > 0 ? (this.fetched - first.fetched) / seconds : 0;
    const secondsLeft = bytesPerSecond > 0 ? (this.total - loaded) / bytesPerSecond : null;
    this.report({ file, phase, loaded, total: this.total, bytesPerSecond, secondsLeft });
  }
}
