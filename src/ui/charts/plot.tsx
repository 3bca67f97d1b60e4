/**
 * @file uPlot inside Preact: made once per theme and shape, then only fed. Nothing here re-renders while a run grows.
 *
 * All charts share one cursor (uPlot's sync), so a glance along a column compares one iteration everywhere.
 */
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { type ChartColours, chartColours, themeVersion } from './colours';
import type { Value } from './smoothing';

/** The iteration under the pointer, or null: every chart shows its value there. */
export const cursorIteration = signal<number | null>(null);

export interface PlotShape {
  series(colours: ChartColours): uPlot.Series[];
  bands?(colours: ChartColours): uPlot.Band[];
  write(value: number): string;
  range?: readonly [low: number, high: number];
  /** Upper end of an axis from zero, given the highest value drawn. */
  top?(high: number): number;
  steps?: readonly number[];
  fromZero?: boolean;
}

interface Properties {
  shape: PlotShape;
  xs: readonly number[];
  lines: readonly (readonly Value[])[];
  /** Right end of the x axis, so that a growing curve grows into its frame. */
  xMax: number;
  /** CSS pixels, or as high as the frame is. */
  height: number | 'fill';
  onPick?(iteration: number): void;
}

const iterationSteps = [1, 2, 5, 10, 20, 50, 100, 200, 500];
const font = '11px system-ui, sans-serif';

export function Plot({ shape, xs, lines, xMax, height, onPick }: Properties) {
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const right = useRef(xMax);
  const pick = useRef(onPick);
  right.current = xMax;
  pick.current = onPick;
  const theme = themeVersion.value;

  // The data has its own effect below: only another shape, theme or height builds the plot anew.
  useEffect(() => {
    const element = holder.current;
    if (!element) return;
    const colours = chartColours(element);
    const heightOf = () => (height === 'fill' ? Math.max(160, element.clientHeight) : height);
    const made = new uPlot(
      options(shape, colours, element.clientWidth, heightOf(), () => right.current),
      [[], ...lines.map(() => [])],
      element,
    );
    plot.current = made;
    made.over.addEventListener('click', () => {
      const x = made.cursor.idx === null || made.cursor.idx === undefined ? undefined : made.data[0][made.cursor.idx];
      if (x !== undefined) pick.current?.(x);
    });
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: heightOf() }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [shape, theme, height]);

  // A plot that was built anew (shape, theme, height) must be fed again.
  useEffect(() => {
    plot.current?.setData([[...xs], ...lines.map((line) => [...line])] as uPlot.AlignedData);
  }, [xs, lines, xMax, shape, theme, height]);

  return <div class="plot" ref={holder} aria-hidden="true" />;
}

function options(
  shape: PlotShape,
  colours: ChartColours,
  width: number,
  height: number,
  right: () => number,
): uPlot.Options {
  const axis = { stroke: colours.ink, font, ticks: { show: false }, grid: { stroke: colours.grid, width: 1 } };
  return {
    width,
    height,
    padding: [8, 10, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: false, y: false },
      sync: { key: 'run', scales: ['x', null] },
      points: { size: 7 },
    },
    scales: {
      x: { time: false, range: () => [0, Math.max(1, right())] },
      y: {
        range: (_plot, low, high) => {
          if (shape.range) return [shape.range[0], shape.range[1]];
          if (low === null || high === null) return [0, 1];
          if (shape.top) return [0, shape.top(high)];
          const bottom = shape.fromZero ? Math.min(0, low) : low;
          const room = (high - bottom || Math.abs(high) || 1) * 0.12;
          return [shape.fromZero ? bottom : bottom - room, high + room];
        },
      },
    },
    axes: [
      { ...axis, incrs: iterationSteps, space: 44, size: 26, grid: { show: false } },
      {
        ...axis,
        size: 52,
        space: 26,
        ...(shape.steps && { incrs: [...shape.steps] }),
        values: (_plot, values) => values.map((value) => shape.write(value)),
      },
    ],
    series: [{}, ...shape.series(colours)],
    bands: shape.bands?.(colours),
    hooks: {
      setCursor: [
        (plot) => {
          const index = plot.cursor.idx;
          cursorIteration.value = index === null || index === undefined ? null : (plot.data[0][index] ?? null);
        },
      ],
    },
  };
}
