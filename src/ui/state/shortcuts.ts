/** @file One-key commands; silent while someone types, and never stealing a key from a focused control (WCAG 2.1.4). */

export type Command = 'run' | 'step' | 'reset' | 'help' | 'previous' | 'next';

const keys: Readonly<Record<string, Command>> = {
  ' ': 'run',
  '.': 'step',
  r: 'reset',
  '?': 'help',
  ArrowLeft: 'previous',
  ArrowRight: 'next',
};

export interface KeyPress {
  key: string;
  modified: boolean;
  repeated: boolean;
  /** Tag name (upper case), input type and role of the focused element. */
  tag: string;
  role: string | null;
  editable: boolean;
  dialogOpen: boolean;
}

/** What a key press means, or null when it belongs to the focused control. */
export function commandOf(press: KeyPress): Command | null {
  const command = keys[press.key];
  if (!command || press.modified || press.repeated || press.dialogOpen || press.editable) return null;
  if (['INPUT', 'TEXTAREA', 'SELECT'].includes(press.tag)) return null;
  // A focused button is pressed by Space, a focused scrolling region scrolls.
  const activates = ['BUTTON', 'SUMMARY', 'A', 'SECTION'].includes(press.tag);
  if (command === 'run' && activates) return null;
  const moves = press.role === 'tab' || press.role === 'slider' || press.role === 'region' || press.tag === 'SECTION';
  if ((command === 'previous' || command === 'next') && moves) return null;
  return command;
}

export function listenForShortcuts(run: (command: Command) => void): () => void {
  const listener = (event: KeyboardEvent) => {
    const target = event.target instanceof HTMLElement ? event.target : document.body;
    const command = commandOf({
      key: event.key,
      modified: event.ctrlKey || event.metaKey || event.altKey,
      repeated: event.repeat,
      tag: target.tagName,
      role: target.getAttribute('role'),
      editable: target.isContentEditable,
      dialogOpen: document.querySelector('dialog[open]') !== null,
    });
    if (!command) return;
    event.preventDefault();
    run(command);
  };
  document.addEventListener('keydown', listener);
  return () => document.removeEventListener('keydown', listener);
}
