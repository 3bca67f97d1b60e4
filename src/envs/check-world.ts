/**
 * @file Does a world keep what the trainer relies on? For authors of worlds: run it in a test, or through `dream`.
 *
 * The trainer replays episodes, compares dreams with the truth and tries several actions from one state. All of that is
 * wrong, silently, in a world whose answers depend on anything but the task and the actions.
 */
import type { PlayableEnvironment, World } from './world';

const tasksTried = 5;
const stepsTried = 15;

/** Broken promises, as sentences; none when the world is sound. Plays a few short episodes. */
export function worldProblems(world: World): string[] {
  const problems: string[] = [];
  const training = world.trainingTasks(50);
  const heldOut = world.heldOutTasks(50);
  if (training.length === 0) problems.push('trainingTasks gives no task.');
  const ids = new Set(training.map(({ id }) => id));
  if (ids.size < training.length) problems.push('Two training tasks have the same id.');
  const shared = heldOut.find(({ id }) => ids.has(id));
  if (shared) problems.push(`The held-out task ${shared.id} is a training task too.`);
  if (JSON.stringify(world.trainingTasks(50)) !== JSON.stringify(training))
    problems.push('trainingTasks gives other tasks when it is asked again.');
  for (const task of [...training, ...heldOut].slice(0, tasksTried)) {
    const environment = world.create();
    const first = environment.reset(task);
    if (first !== task.firstObservation) problems.push(`${task.id}: reset does not give the task's firstObservation.`);
    problems.push(...episodeProblems(world, environment, task.id));
    const replayed = world.create();
    if (replayed.reset(task) !== first) problems.push(`${task.id}: a second reset gives another observation.`);
  }
  return [...new Set(problems)];
}

function episodeProblems(world: World, environment: PlayableEnvironment, id: string): string[] {
  const problems: string[] = [];
  for (let i = 0; i < stepsTried; i++) {
    const before = environment.snapshot();
    const admissible = environment.admissible().filter((command) => !command.includes('<'));
    const action = world.expert(environment) ?? admissible[i % Math.max(1, admissible.length)] ?? 'look';
    const result = environment.step(action);
    environment.restore(before);
    const again = environment.step(action);
    if (JSON.stringify(again) !== JSON.stringify(result))
      problems.push(`${id}: after restore, "${action}" gives another answer.`);
    if (!result.valid && admissible.includes(action)) problems.push(`${id}: "${action}" is admissible and refused.`);
    if (result.reward > 0 && !result.done) problems.push(`${id}: a reward that does not end the episode.`);
    if (result.imagined) problems.push(`${id}: a real world's answer says that it was imagined.`);
    if (result.done) break;
  }
  const nonsense = environment.snapshot();
  const refused = environment.step('\u0000 no such command');
  if (refused.valid || refused.reward > 0) problems.push(`${id}: a command that does not exist is accepted.`);
  environment.restore(nonsense);
  return problems;
}
