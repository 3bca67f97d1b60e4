/** @file Components rendered without a browser: linkedom's document, Preact's own renderer. */
import { parseHTML } from 'linkedom';
import { render } from 'preact';
import { afterEach, beforeEach, vi } from 'vitest';

/** A fresh page for every test of the file that calls this; `element` is where its components go. */
export function useRoot(): { readonly element: HTMLElement } {
  const page = {} as { element: HTMLElement };
  beforeEach(() => {
    const { document } = parseHTML('<!doctype html><html><body><div id="root"></div></body></html>');
    vi.stubGlobal('document', document);
    page.element = document.getElementById('root') as unknown as HTMLElement;
  });
  afterEach(() => {
    render(null, page.element);
    vi.unstubAllGlobals();
  });
  return page;
}
