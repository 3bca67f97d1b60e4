/** @file A run of any world on a real model, as the loop wants it: as in the household (text-household/model-run.ts). */

import { DreamError } from '../../data/errors';
import type { TextTokenizer } from '../../models/text-tokenizer';
import type { DecoderModel } from '../../nn/decoder-model';
import type { Domain } from '../domain';
import type { RunModel } from '../run-store';
import { ChatTurns, imitate, type ModelRun } from '../text-household';
import type { Demonstration } from '../text-household/demonstrations';
import { modelParts } from '../text-household/model-run';
import type { TextSettings } from '../text-household/settings';
import { demonstration } from './imitation';
import type { SpokenWorld } from './world';

/** `domain` is the world's (`worldTextDomain`). Its warm start throws `no-demonstrations` where nobody can show anything. */
export function worldRun(
  model: DecoderModel,
  tokenizer: TextTokenizer,
  world: SpokenWorld,
  domain: Domain,
  run: RunModel & { text: TextSettings },
): ModelRun {
  const parts = modelParts(model, domain, run);
  return {
    parts,
    async warmStart({ seed, onStep }) {
      const steps = run.text.warmStart;
      if (steps === 0) return [];
      if (world.demonstrations === null) throw nobodyShows(world.name);
      const turns = new ChatTurns(tokenizer);
      const source = told(world.demonstrations(seed), (played) =>
        demonstration(domain, turns, run.text, played, run.contextLength),
      );
      return imitate(parts.policy, source, steps, onStep);
    },
  };
}

function* told<T>(played: Iterable<T>, tell: (each: T) => Demonstration): Generator<Demonstration, void> {
  for (const each of played) {
    const shown = tell(each);
    // An opening that fills the context leaves nothing to imitate.
    if (shown.weights.includes(1)) yield shown;
  }
}

const nobodyShows = (name: string): DreamError =>
  new DreamError(
    'no-demonstrations',
    `Nobody can demonstrate the world ${name}.`,
    'Leave --warm-start out, or import trajectories and train on those.',
  );
