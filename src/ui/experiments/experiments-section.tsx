/** @file The place of "Experiments" on the page: a heading and a button; code and worker are fetched when it is opened. */
import { sectionOnDemand } from '../panels/section-on-demand';

export const ExperimentsSection = sectionOnDemand({
  name: 'experiments',
  title: 'Experiments',
  about:
    'Does dreaming really help, and which part of it? Compare methods on the same unseen tasks, over several seeds.',
  fetchBody: async () => (await import('./experiments-panel')).ExperimentsPanel,
});
