/** @file The household world's `Dialect`: the token formats of this folder behind the loop's interface. */
import type { Tokenizer } from '../../models/tokenizer';
import type { Dialect } from '../domain';
import { typeOf } from './belief';
import {
  experienceMaxNewTokens,
  experiencePrompt,
  experienceQuestion,
  experienceStopTokens,
  parseExperienceAnswer,
  withoutReward,
} from './experience';
import {
  generatorMaxNewTokens,
  generatorPrompt,
  generatorStopTokens,
  knownObjects,
  parseGeneratorAnswer,
} from './generator';
import {
  parsePolicyAnswer,
  policyMaxNewTokens,
  policyObservation,
  policyPrompt,
  policyStopTokens,
  policyTurn,
} from './policy';

export function householdDialect(tokenizer: Tokenizer): Dialect {
  return {
    policy: {
      stopTokens: policyStopTokens(tokenizer),
      maxNewTokens: policyMaxNewTokens,
      opening: (task, firstObservation) => [
        ...policyPrompt(tokenizer, firstObservation, task.instruction),
        ...policyTurn(tokenizer),
      ],
      parse(tokens) {
        const answer = parsePolicyAnswer(tokenizer, tokens);
        return answer.ok ? { thought: answer.thought, action: answer.action } : null;
      },
      reply: (words, observation) => [...policyObservation(tokenizer, words, observation), ...policyTurn(tokenizer)],
    },
    experience: {
      stopTokens: experienceStopTokens(tokenizer),
      maxNewTokens: experienceMaxNewTokens,
      opening: (task, firstObservation) => experiencePrompt(tokenizer, firstObservation, task.instruction),
      question: (task, action, memories) =>
        experienceQuestion(
          tokenizer,
          task.instruction,
          action,
          memories.map(({ nextState }) => nextState),
        ),
      parse(tokens) {
        const answer = parseExperienceAnswer(tokenizer, tokens);
        if (!answer.ok) return null;
        const { reasoning, observation, reward, valid } = answer;
        return { reasoning, observation, reward, valid };
      },
      withoutReward: (tokens) => withoutReward(tokenizer, tokens),
      // The flag ends an answer; the next question begins with `>`.
      reply: () => [],
    },
    generator: {
      stopTokens: generatorStopTokens(tokenizer),
      maxNewTokens: generatorMaxNewTokens,
      opening: (parents, memories) =>
        generatorPrompt(
          tokenizer,
          parents[0].firstObservation,
          [...knownObjects(memories.flatMap(({ state, nextState }) => [state, nextState]))].map(typeOf),
          parents.slice(0, 2).map(({ instruction }) => instruction),
        ),
      parse(tokens) {
        const answer = parseGeneratorAnswer(tokenizer, tokens);
        return answer.ok ? answer.instruction : null;
      },
      instruction: ({ instruction }) => [...tokenizer.encode(instruction)],
    },
  };
}
