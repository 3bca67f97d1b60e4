/** @file The place of "Worlds" on the page: a heading and a button; its code, and each world, is fetched when it is asked for. */
import { sectionOnDemand } from '../panels/section-on-demand';

export const WorldsSection = sectionOnDemand({
  name: 'worlds',
  title: 'Worlds',
  about:
    'Play what the agents play: a household, a shop, a set of web sites, all of them inside this page. And bring trajectories of your own.',
  fetchBody: async () => (await import('./worlds-panel')).WorldsPanel,
});
