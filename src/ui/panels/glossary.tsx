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
  [
    'Advantage',
    'How much better (+) or worse (−) an attempt went than was to be expected: than the others of its group, or than the critic foresaw.',
  ],
  [
    'Algorithm',
    'The recipe that turns rewards into changes of the agent. Nine are built in; they differ in what an attempt is compared with and how far one lesson may go. GRPO is the paper’s.',
  ],
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
  [
    'Critic',
    'A second output of the agent’s model that foresees the reward still to come. Only PPO uses one; the other algorithms compare attempts with each other instead.',
  ],
  [
    'Clip',
    'The limit on how much more or less likely one lesson may make a word, so that a lucky attempt does not change everything.',
  ],
  [
    'KL (the pull to the start)',
    'A measure of how different the agent is from an earlier version of itself: 0 means the same. Charging for it keeps the agent close to where it began.',
  ],
  [
    'Replay precision',
    'Every dreamed success is played again, action by action, in the real world; this is the share that succeeds there too. The replays are measured, never trained on.',
  ],
  [
    'Fidelity',
    'How true the dream is to the real world: whether its rewards, its next states and its successes are those that really follow. Measured against the real world, never trained on.',
  ],
  [
    'Sim-to-real (S2R)',
    'First much practice in the dream, which is cheap, then a little in the real world, which polishes what the dream got wrong.',
  ],
  ['Replay buffer (memory)', 'Past steps the dream may look up by similarity before it answers.'],
  ['Curriculum', 'Choosing tasks that succeed sometimes and fail sometimes, and inventing variations of them.'],
  [
    '95% interval',
    'A success rate on 200 tasks is a sample. The interval says where the true rate very likely lies (Wilson’s method).',
  ],
  [
    'Warm start',
    'The agent as it comes with the page: it has imitated a clumsy demonstrator and solves some tasks, so that there is something to improve.',
  ],
  [
    'SFT, DPO, IWM, SR',
    'Ways to learn without rewards: imitating demonstrations (SFT), preferring successes over failures (DPO), learning what its own actions lead to (IWM, implicit world modelling), learning why a demonstrated action was better (SR, self-reflection).',
  ],
  [
    'Ablation',
    'An experiment that takes one part away (“without memories”) and leaves the rest: what gets worse shows what the part was good for.',
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
