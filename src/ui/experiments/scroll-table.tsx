/** @file A table that may be wider than the page: it scrolls by itself, by keyboard too. */
import type { ComponentChildren } from 'preact';

export function ScrollTable({ label, kind, children }: { label: string; kind: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable to be scrolled by keyboard.
    <section class="scroll experiment-scroll" tabIndex={0} aria-label={label}>
      <table class={`experiment-table ${kind}`}>{children}</table>
    </section>
  );
}
