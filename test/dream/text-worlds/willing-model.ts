/** @file A model that knows nothing and draws whatever it is allowed: what a led turn or answer makes of noise. */
import type { TurnGuide } from '../../../src/dream/domain';
import { Random } from '../../../src/envs/household';
import type { TextTokenizer } from '../../../src/models/text-tokenizer';
import type { SamplingOptions, Sessions } from '../../../src/nn/language-model';
import { SpeakingModel } from '../text-household/speaking-models';

/** Draws an answer; letters are drawn less often than what ends a text, so that texts are of several lengths. */
export function draw(guide: TurnGuide, stopTokens: readonly number[], random: Random, most = 400): number[] {
  const drawn: number[] = [];
  while (drawn.length < most) {
    const allowed = guide(drawn);
    const token =
      allowed === null
        ? random.int(250) + 3
        : random.pick(allowed.length > 8 && random.chance(0.3) ? allowed.slice(0, 2) : [...allowed]);
    drawn.push(token);
    if (stopTokens.includes(token)) return drawn;
  }
  return drawn;
}

export class WillingModel extends SpeakingModel {
  constructor(tokenizer: TextTokenizer) {
    super(tokenizer, () => '');
  }
  override sessions(count: number): Sessions {
    const sessions = super.sessions(count);
    return Object.assign(sessions, {
      async generate(streams: readonly number[], { allowed, stopTokens, seed, maxNewTokens }: SamplingOptions) {
        return streams.map((stream) => {
          const random = new Random(seed + stream);
          const guide: TurnGuide = (drawn) => allowed?.(stream, drawn) ?? null;
          const tokens = draw(guide, stopTokens, random, maxNewTokens);
          sessions.append(stream, tokens);
          const stopped = stopTokens.includes(tokens[tokens.length - 1]);
          return { tokens, logProbs: tokens.map(() => -2), stopped };
        });
      },
    });
  }
}
