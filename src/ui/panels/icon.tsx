/** @file The page's few icons, drawn here so that nothing has to be fetched. 20-unit grid, 1.75 stroke. */

const paths = {
  play: 'M6 4l10 6-10 6z',
  pause: 'M6.5 4v12M13.5 4v12',
  step: 'M5 4l7 6-7 6zM15 4v12',
  stop: 'M5 5h10v10H5z',
  reset: 'M4 10a6 6 0 1 0 2-4.5M4 3v3.5h3.5',
  previous: 'M12.5 4.5L7 10l5.5 5.5',
  next: 'M7.5 4.5L13 10l-5.5 5.5',
  check: 'M4.5 10.5l3.5 3.5 7.5-8',
  cross: 'M5.5 5.5l9 9M14.5 5.5l-9 9',
  fooled: 'M4 12c2-4 4-4 6-2s4 2 6-2',
  close: 'M5.5 5.5l9 9M14.5 5.5l-9 9',
  undo: 'M8 5L4 9l4 4M4 9h8a4 4 0 0 1 0 8h-1',
  system: 'M3 4h14v9H3zM7 17h6M10 13v4',
  light:
    'M10 6.5a3.5 3.5 0 1 0 0 7a3.5 3.5 0 1 0 0-7zM10 2v2M10 16v2M2 10h2M16 10h2M4.3 4.3l1.4 1.4M14.3 14.3l1.4 1.4M4.3 15.7l1.4-1.4M14.3 5.7l1.4-1.4',
  dark: 'M16 12A6.5 6.5 0 0 1 8 4a6.5 6.5 0 1 0 8 8z',
  help: 'M7.5 7.5a2.5 2.5 0 1 1 3.5 2.3c-.7.3-1 .8-1 1.7M10 14.5v.01',
  link: 'M8.5 11.5a3 3 0 0 0 4.2 0l2.6-2.6a3 3 0 0 0-4.2-4.2l-1 1M11.5 8.5a3 3 0 0 0-4.2 0l-2.6 2.6a3 3 0 0 0 4.2 4.2l1-1',
  save: 'M10 3v9M6 8.5l4 4 4-4M4 16h12',
  open: 'M10 12V3M6 6.5l4-4 4 4M4 16h12',
  error: 'M10 6v5M10 14v.01M10 2.5a7.5 7.5 0 1 0 0 15a7.5 7.5 0 1 0 0-15z',
} as const;
export type IconName = keyof typeof paths;

const solid: ReadonlySet<IconName> = new Set(['play', 'stop']);

/** With `label` it speaks; without, it only decorates text beside it. */
export function Icon({ name, label }: { name: IconName; label?: string }) {
  return (
    <>
      <svg class={solid.has(name) ? 'icon solid' : 'icon'} viewBox="0 0 20 20" aria-hidden="true" focusable="false">
        <path d={paths[name]} />
      </svg>
      {label && <span class="sr-only">{label}</span>}
    </>
  );
}
