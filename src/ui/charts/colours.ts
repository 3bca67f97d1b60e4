/** @file A canvas cannot read `var(--x)` with `light-dark()`: colours are resolved through a real element, per theme. */
import { signal } from '@preact/signals';
import type { Tone } from './definitions';

/** Counts changes of theme; charts that depend on it are drawn anew. */
export const themeVersion = signal(0);

const variables = {
  real: '--real',
  dream: '--dream',
  agent: '--agent',
  second: '--second',
  band: '--real-band',
  ink: '--ink-soft',
  grid: '--grid',
  ghost: '--ghost',
} as const satisfies Record<Tone | 'band' | 'ink' | 'grid' | 'ghost', string>;

export type ChartColours = Record<keyof typeof variables, string>;

export function chartColours(inside: HTMLElement): ChartColours {
  const probe = document.createElement('span');
  probe.hidden = true;
  // Where the system chooses the colours, lines and band must still differ.
  probe.style.setProperty('forced-color-adjust', 'none');
  inside.append(probe);
  const colours = {} as ChartColours;
  for (const [name, variable] of Object.entries(variables) as [keyof ChartColours, string][]) {
    probe.style.color = `var(${variable})`;
    colours[name] = getComputedStyle(probe).color;
  }
  probe.remove();
  return colours;
}

/** The same colour, fainter: the measured line under its smoothed one. */
export function faint(colour: string): string {
  return colour.replace(/^rgb\(([^)]+)\)$/, 'rgba($1, 0.28)');
}
