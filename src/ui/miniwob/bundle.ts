/**
 * @file A MiniWoB++ task page and everything it needs as one HTML text (Farama-Foundation/miniwob-plusplus, the user's own
 * local copy; none of it is part of this program).
 *
 * Scripts and style sheets are put in line, because the frame it runs in may load nothing.
 */
import { DreamError } from '../../data/errors';
import { BRIDGE } from './bridge';

/** Path below the chosen folder -> text. */
export type TextFiles = ReadonlyMap<string, string>;

const TEXT_FILE = /\.(?:html?|js|css)$/i;
/** The whole of MiniWoB++ is 5 MB; the largest library in it 0.5 MB. */
export const MAX_FILE_BYTES = 4 * 1024 * 1024;
export const MAX_TOTAL_BYTES = 64 * 1024 * 1024;

interface ReadableFile {
  readonly name: string;
  readonly webkitRelativePath?: string;
  readonly size: number;
  text(): Promise<string>;
}

/** Reads a chosen folder. Pictures and the like are left out. @throws DreamError `miniwob-folder-unsuitable`. */
export async function readMiniWobFolder(files: Iterable<ReadableFile>): Promise<TextFiles> {
  const texts = new Map<string, string>();
  let total = 0;
  for (const file of files) {
    if (!TEXT_FILE.test(file.name) || file.size > MAX_FILE_BYTES) continue;
    total += file.size;
    if (total > MAX_TOTAL_BYTES) {
      throw new DreamError(
        'miniwob-folder-unsuitable',
        'The folder holds more than 64 MB of pages and scripts.',
        'Choose the folder html of your copy of MiniWoB++ (miniwob/html).',
      );
    }
    texts.set(file.webkitRelativePath || file.name, await file.text());
  }
  if (taskPages(texts).length === 0) {
    throw new DreamError(
      'miniwob-folder-unsuitable',
      'The folder holds no MiniWoB task page (an HTML file that starts its episode through core.js).',
      'Choose the folder html of your copy of MiniWoB++ (miniwob/html).',
    );
  }
  return texts;
}

/** Paths of the pages that are tasks: they define a problem and load the core. Sorted. */
export function taskPages(files: TextFiles): string[] {
  return [...files]
    .filter(([path, text]) => /\.html?$/i.test(path) && text.includes('genProblem') && /core\.js["']/.test(text))
    .map(([path]) => path)
    .sort();
}

/** `click-test` of `html/miniwob/click-test.html`. */
export const pageName = (path: string): string => path.replace(/^.*\//, '').replace(/\.html?$/i, '');

/** A link of the page at `base`, below the chosen folder; null when it leads out of it or onto the network. */
export function pathOf(base: string, link: string): string | null {
  if (/^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(link)) return null;
  const parts = link.startsWith('/') ? [] : base.split('/').slice(0, -1);
  for (const part of link.split(/[?#]/)[0].split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..') {
      if (parts.pop() === undefined) return null;
    } else parts.push(part);
  }
  return parts.join('/');
}

const SCRIPT = /<script\b([^>]*?)\bsrc\s*=\s*["']([^"']+)["']([^>]*)>\s*<\/script\s*>/gi;
const STYLE = /<link\b[^>]*>/gi;
const POLICY =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:; form-action 'none'; base-uri 'none'";

/** The page with its scripts and styles in line. @throws DreamError `miniwob-file-missing`. */
export function bundlePage(path: string, files: TextFiles): string {
  const page = files.get(path);
  if (page === undefined) throw missing(path, path);
  const wanted = (link: string): string => {
    const target = pathOf(path, link);
    const text = target === null ? undefined : files.get(target);
    if (text === undefined) throw missing(link, path);
    return text;
  };
  const inline = page
    .replace(SCRIPT, (_, before: string, link: string, after: string) => {
      const type = /\btype\s*=\s*["'][^"']*["']/i.exec(before + after)?.[0] ?? '';
      // A closing tag inside a string of the script would end it here.
      return `<script ${type}>${wanted(link).replace(/<\/(script)/gi, '<\\/$1')}</script>`;
    })
    .replace(STYLE, (tag) => {
      const link = /\bhref\s*=\s*["']([^"']+)["']/i.exec(tag)?.[1];
      if (link === undefined || !/stylesheet/i.test(tag)) return '';
      return `<style>${wanted(link).replace(/<\/(style)/gi, '<\\/$1')}</style>`;
    });
  const head = `<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${POLICY}"><script>${BRIDGE}</script>`;
  // Before everything else, so that the page cannot have changed what the bridge relies on.
  const body = inline.replace(/^\s*<!doctype[^>]*>/i, '');
  return `<!doctype html>${head}${body}`;
}

const missing = (link: string, page: string): DreamError =>
  new DreamError(
    'miniwob-file-missing',
    `${page} needs ${link}, which is not among the chosen files.`,
    'Choose the whole folder html of your copy of MiniWoB++, not a single page.',
  );
