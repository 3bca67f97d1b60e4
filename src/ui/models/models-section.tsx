/**
 * @file The panel's place on the page: a heading and a button. Its code, and the worker behind it, are fetched when it is
 * opened and not before.
 */
import { sectionOnDemand } from '../panels/section-on-demand';

export const ModelsSection = sectionOnDemand({
  name: 'models',
  title: 'Models',
  about:
    'Look at a real language model, see whether it fits on your graphics processor, load it and try it. Nothing is fetched before you ask for it.',
  fetchBody: async () => (await import('./models-panel')).ModelsPanel,
});
