/** @file A panel that is fetched when it is opened, rendered without a browser. */
import { parseHTML } from 'linkedom';
import { h, render } from 'preact';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { sectionOnDemand } from '../../../src/ui/panels/section-on-demand';

let root: HTMLElement;
beforeEach(() => {
  const { document } = parseHTML('<!doctype html><html><body><div id="root"></div></body></html>');
  vi.stubGlobal('document', document);
  root = document.getElementById('root') as unknown as HTMLElement;
});
afterEach(() => {
  render(null, root);
  vi.unstubAllGlobals();
});

const press = () => root.querySelector('button')!.dispatchEvent(new root.ownerDocument.defaultView!.Event('click'));
const shown = (text: string) => vi.waitFor(() => expect(root.textContent).toContain(text));

it('fetches once, when it is first opened; what could not be fetched is said, and can be tried again', async () => {
  const fetchBody = vi
    .fn()
    .mockRejectedValueOnce(new Error('offline'))
    .mockResolvedValue(() => h('p', null, 'the body'));
  render(h(sectionOnDemand({ name: 'worlds', title: 'Worlds', about: 'Play.', fetchBody }), {}), root);
  expect(root.textContent).toContain('Open worlds');
  expect(fetchBody).not.toHaveBeenCalled();
  press();
  await shown('could not be fetched');
  await shown('Open worlds');
  press();
  await shown('the body');
  await shown('Close worlds');
  press();
  await shown('Open worlds');
  press();
  await shown('Close worlds');
  expect(fetchBody).toHaveBeenCalledTimes(2);
});
