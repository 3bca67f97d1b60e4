/** @file Try the loaded model: let it continue a prompt, and see how likely it finds a text. */
import type { GenerateAnswer, LoadedFacts } from '../../worker/models/protocol';
import { HeatStrip } from '../rollouts/heat-strip';
import { number, plural } from '../text/format';
import { visible } from '../text/visible';
import { activity, streamed, streamedTokens, working } from './connection';
import { NumberField } from './number-field';
import { ProblemNote } from './problem-note';
import { answer, chat, generate, maxTokens, prompt, score, scoreText, seed, stop, temperature, weigh } from './using';

/** An answer may be long; the page shows all that the longest context can hold. */
const longestShown = 200_000;

export function UsePart({ loaded }: { loaded: LoadedFacts }) {
  if (!loaded.hasTokenizer)
    return (
      <div class="models-part">
        <h3>Use</h3>
        <p class="field-help">This model came without a tokenizer, so it can read no text here.</p>
      </div>
    );
  return (
    <div class="models-part">
      <h3>Use</h3>
      <Prompt loaded={loaded} />
      <Output />
      <Score />
      <ProblemNote place="use" />
    </div>
  );
}

function Prompt({ loaded }: { loaded: LoadedFacts }) {
  return (
    <form
      class="models-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!working.value) void generate();
      }}
    >
      <div class="field">
        <label for="model-prompt">Prompt</label>
        <textarea
          id="model-prompt"
          rows={4}
          value={prompt.value}
          onInput={(event) => {
            prompt.value = event.currentTarget.value;
          }}
        />
      </div>
      <div class="fields">
        <div class="field">
          <label for="model-chat">Chat template</label>
          <input
            id="model-chat"
            type="checkbox"
            checked={chat.value && loaded.hasChatTemplate}
            disabled={!loaded.hasChatTemplate}
            aria-describedby="model-chat-help"
            onChange={(event) => {
              chat.value = event.currentTarget.checked;
            }}
          />
          <p class="field-help" id="model-chat-help">
            {loaded.hasChatTemplate
              ? 'The prompt becomes a user’s message, as the model was trained to read it.'
              : 'This model brings none: it goes on with the prompt as it stands.'}
          </p>
        </div>
        <NumberField
          id="model-temperature"
          label="Temperature"
          value={temperature.value}
          min={0}
          max={5}
          onValue={(value) => {
            temperature.value = value;
          }}
        />
        <NumberField
          id="model-max-tokens"
          label="At most, tokens"
          value={maxTokens.value}
          min={1}
          max={loaded.contextLength}
          whole
          onValue={(value) => {
            maxTokens.value = value;
          }}
        />
        <NumberField
          id="model-seed"
          label="Seed of the answer"
          value={seed.value}
          min={0}
          max={4_294_967_295}
          whole
          onValue={(value) => {
            seed.value = value;
          }}
        />
      </div>
      <p class="button-row">
        {activity.value === 'generate' ? (
          <button type="button" onClick={() => void stop()}>
            Stop writing
          </button>
        ) : (
          <button type="submit" class="primary" disabled={prompt.value === '' || working.value}>
            Generate
          </button>
        )}
      </p>
    </form>
  );
}

const endWords: Record<GenerateAnswer['ended'], string> = {
  model: 'the model ended it',
  length: 'as long as it may be',
  stopped: 'stopped',
};

function Output() {
  const found = answer.value;
  const writing = activity.value === 'generate';
  if (!found && !writing && streamed.value === '') return null;
  const text = found ? found.text : streamed.value;
  return (
    <div class="model-answer">
      <h4>Answer</h4>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable to be scrolled by keyboard. */}
      <section class="model-output" tabIndex={0} aria-label="Answer of the model" aria-busy={writing}>
        {visible(text, longestShown)}
      </section>
      {found ? (
        <p class="field-help">
          {plural(found.tokens.length, 'token')}, {endWords[found.ended]}
          {found.tokensPerSecond !== null && `; ${number(found.tokensPerSecond)} tokens/s`}; the prompt’s{' '}
          {plural(found.promptTokens, 'token')} and the first of the answer took {number(found.firstSeconds)} s.
        </p>
      ) : (
        writing && <p class="field-help">{plural(streamedTokens.value, 'token')} so far…</p>
      )}
      {found && (
        <details>
          <summary>How likely it found each token</summary>
          <HeatStrip {...found} label="How likely the model found each token of its answer" />
        </details>
      )}
    </div>
  );
}

function Score() {
  const found = score.value;
  return (
    <form
      class="models-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!working.value) void weigh();
      }}
    >
      <div class="field">
        <label for="model-score">A text to score</label>
        <textarea
          id="model-score"
          rows={3}
          aria-describedby="model-score-help"
          value={scoreText.value}
          onInput={(event) => {
            scoreText.value = event.currentTarget.value;
          }}
        />
        <p class="field-help" id="model-score-help">
          How likely the model finds each token of it after those before.
        </p>
      </div>
      <p class="button-row">
        <button type="submit" disabled={scoreText.value === '' || working.value}>
          {activity.value === 'score' ? 'Scoring…' : 'Score'}
        </button>
      </p>
      {found && (
        <>
          <HeatStrip {...found} given={1} label="How likely the model finds each token of this text" />
          <p class="field-help">
            Perplexity {number(found.perplexity)} over {plural(found.tokens.length, 'token')};{' '}
            {number(found.tokensPerSecond)} tokens/s.
          </p>
        </>
      )}
    </form>
  );
}
