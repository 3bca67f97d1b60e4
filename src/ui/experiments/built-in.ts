/** @file The experiments that come with the page: the same files that `dream experiment` runs in a terminal. */

export interface BuiltIn {
  id: string;
  title: string;
  /** In plain words, in place of the file's own. */
  about?: string;
  definition: unknown;
}

const words: Readonly<Record<string, { title: string; about: string }>> = {
  'paper-table': {
    title: 'The paper’s table',
    about:
      'Ways to teach the same agent, in the order of the paper’s tables: imitation, practice in the real world, practice in the dream, and the dream with one part taken away. All begin with the agent as it comes with the page.',
  },
  countermeasures: {
    title: 'What keeps the dream honest',
    about:
      'An agent may learn to fool its dream instead of solving its tasks. Here every safeguard against that is on, then each one is switched off, then all of them.',
  },
  transfer: {
    title: 'What carries over',
    about:
      'Trained on one or two kinds of household tasks only, tested on all six: how much of what was learned helps with the others? The agent has imitated all six before.',
  },
  planning: {
    title: 'Thinking before acting',
    about:
      'In the test, the agent imagines what three of its ideas would lead to and takes the one that looks best. What is that worth, before and after training?',
  },
};

const files = import.meta.glob<string>('../../../bench/experiments/*.json', {
  query: '?raw',
  import: 'default',
  eager: true,
});

/** The paper's table first, as the one to begin with. */
export const builtIns: readonly BuiltIn[] = Object.entries(files)
  .map(([path, text]) => {
    const id = path.slice(path.lastIndexOf('/') + 1, -'.json'.length);
    return { id, ...(words[id] ?? { title: id }), definition: JSON.parse(text) as unknown };
  })
  .sort((a, b) => Number(b.id === 'paper-table') - Number(a.id === 'paper-table') || a.title.localeCompare(b.title));
