/** @file What the headers say of a model, before a byte of its weights is read. */
import type { ModelFacts } from '../../worker/models/protocol';
import { bytes, count, number, plural } from '../text/format';
import { visible, visibleLine } from '../text/visible';

export function Facts({ facts }: { facts: ModelFacts }) {
  const { label, architecture, parameters, config, storedAs, weightBytes, download } = facts;
  return (
    <div class="models-part">
      <h3>{visibleLine(label, 80)}</h3>
      <dl class="facts">
        <Fact name="Architecture">{visibleLine(architecture, 60)}</Fact>
        <Fact name="Parameters">{parameterWords(parameters)}</Fact>
        <Fact name="Shape">
          {config.layers} layers, width {count(config.width)}, {config.heads} heads ({config.kvHeads} for keys and
          values), vocabulary {count(config.vocabSize)}
        </Fact>
        <Fact name="Longest context">{count(config.contextLength)} tokens</Fact>
        <Fact name="Stored as">
          {storedAs
            .map(
              ({ type, tensors, bytes: size }) =>
                `${plural(tensors, 'tensor')} in ${visibleLine(type, 40)} (${bytes(size)})`,
            )
            .join(', ')}
        </Fact>
        <Fact name="Weights">{bytes(weightBytes)}</Fact>
        {download && (
          <Fact name="To download">
            {download.fetchBytes === 0 ? 'nothing, it is here already' : bytes(download.fetchBytes)}
            {download.fetchBytes > 0 &&
              download.fetchBytes < download.totalBytes &&
              ` of ${bytes(download.totalBytes)}`}
          </Fact>
        )}
        {download && <Fact name="Commit">{download.commit.slice(0, 12)}</Fact>}
        <Fact name="Tokenizer">{facts.hasTokenizer ? 'yes' : 'no'}</Fact>
        <Fact name="Chat template">{facts.hasChatTemplate ? 'yes' : 'no'}</Fact>
      </dl>
      {facts.notes.map((note) => (
        <p key={note} class="field-help">
          {visible(note, 600)}
        </p>
      ))}
      {facts.tokenizerProblem && (
        <p class="problem">
          {visible(facts.tokenizerProblem.message, 600)} {visible(facts.tokenizerProblem.advice, 600)}
        </p>
      )}
    </div>
  );
}

function Fact({ name, children }: { name: string; children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function parameterWords(parameters: number): string {
  if (parameters >= 1e9) return `${number(parameters / 1e9)} billion`;
  if (parameters >= 1e6) return `${number(parameters / 1e6)} million`;
  return count(parameters);
}
