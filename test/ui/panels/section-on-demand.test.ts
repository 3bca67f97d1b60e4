/** @file A panel that is fetched when it is opened, rendered without a browser. */
import { h, render } from 'preact';
import { expect, it, vi } from 'vitest';
import { sectionOnDemand } from '../../../src/ui/panels/section-on-demand';
import { useRoot } from '../rendered';

const page = useRoot();

const press = () =>
  page.element.querySelector('button')!.dispatchEvent(new page.element.ownerDocument.defaultView!.Event('click'));
const shown = (text: string) => vi.waitFor(() => expect(page.element.textContent).toContain(text));

it('fetches once, when it is first opened; what could not be fetched is said, and can be tried again', async () => {
  const fetchBody = vi
    .fn()
    .mockRejectedValueOnce(new Error('offline'))
    .mockResolvedValue(() => h('p', null, 'the body'));
  render(h(sectionOnDemand({ name: 'worlds', title: 'Worlds', about: 'Play.', fetchBody }), {}), page.element);
  expect(page.element.textContent).toContain('Open worlds');
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
