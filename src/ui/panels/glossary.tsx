/** @file The words of the page, each in a sentence or two. */

const words: readonly (readonly [term: string, meaning: string])[] = [
  [
    'Agent (policy)',
    'A small language model that reads the task and what it sees, thinks a few words, and names its next action.',
  ],
  [
    'Experience model (the dream)',
    'The same kind of model in another role: given the story so far and an action, it writes what happens next and whether the task is solved.',
  ],
  [
    'Imagined, real',
    'Imagined text was written by the experience model. Real text comes from the built-in household world, a program whose rules are exact.',
  ],
  ['Rollout, episode', 'One attempt at one task, turn by turn, until it is solved or the turns run out.'],
  ['Reward', '1 at the turn that solves the task, 0 at every other.'],
  [
    'Group',
    'Several attempts at the same task. Only their differences teach: if all succeed or all fail, there is nothing to compare.',
  ],
  ['Advantage', 'How much better (+) or worse (−) an attempt went than the others of its group.'],
  [
    'GRPO',
    'Group Relative Policy Optimization: makes the words of better-than-usual attempts more likely and those of worse ones less likely, in small, clipped steps.',
  ],
  [
    'Log-probability',
    'How likely the agent found the word it chose, as a logarithm: 0 is certain, −3 is a chance of 5%.',
  ],
  ['Temperature', 'How adventurous a model is when it picks words: near 0 it always takes its favourite.'],
  ['Entropy', 'How undecided the agent is on average: high while it explores, low when it is sure.'],
  ['KL', 'How different the agent is from an earlier version of itself.'],
  [
    'Replay precision',
    'Every dreamed success is played again, action by action, in the real world; this is the share that succeeds there too. The replays are measured, never trained on.',
  ],
  ['Replay buffer (memory)', 'Past steps the dream may look up by similarity before it answers.'],
  ['Curriculum', 'Choosing tasks that succeed sometimes and fail sometimes, and inventing variations of them.'],
  [
    '95% interval',
    'A success rate on 200 tasks is a sample. The interval says where the true rate very likely lies (Wilson’s method).',
  ],
  [
    'LoRA, adapter',
    'A small set of weights beside a large model that stays as it is: what is learned, saved and exchanged when a real model is trained.',
  ],
  [
    'Context',
    'How many tokens a model may look at together: the prompt and all that it writes. A longer one needs more memory.',
  ],
  ['Perplexity', 'Among how many equally likely words the model would be choosing on average: lower is surer.'],
  ['Seed', 'The number all chance is drawn from; the same seed on the same machine repeats a run exactly.'],
];

export function Glossary() {
  return (
    <dl class="glossary">
      {words.map(([term, meaning]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{meaning}</dd>
        </div>
      ))}
    </dl>
  );
}
