/**
 * @file Events on their way to the page: at most ten deliveries a second, nothing lost but outdated progress.
 *
 * Progress replaces progress; everything else (iterations, evaluations, errors) waits in line and arrives in order.
 */
import type { RunEvent } from './protocol';

export type Listener = (event: RunEvent) => unknown;

const deliveryEveryMs = 100;

export class EventBatcher {
  private readonly listeners = new Set<Listener>();
  private queue: RunEvent[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private lastDelivery = Number.NEGATIVE_INFINITY;

  subscribe(listener: Listener): void {
    this.listeners.add(listener);
  }

  push(event: RunEvent): void {
    if (event.type === 'progress' && this.queue.at(-1)?.type === 'progress') this.queue.pop();
    this.queue.push(event);
    if (this.timer !== undefined) return;
    const wait = this.lastDelivery + deliveryEveryMs - performance.now();
    if (wait <= 0) this.deliver();
    else this.timer = setTimeout(() => this.deliver(), wait);
  }

  /** Delivers what is waiting, now. */
  deliver(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.lastDelivery = performance.now();
    const events = this.queue;
    this.queue = [];
    for (const event of events) for (const listener of this.listeners) void this.tell(listener, event);
  }

  /** A listener that fails (a page that went away) must not stop the run. */
  private async tell(listener: Listener, event: RunEvent): Promise<void> {
    try {
      await listener(event);
    } catch {
      this.listeners.delete(listener);
    }
  }
}
