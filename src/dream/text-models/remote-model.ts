/**
 * @file A text model lent across a port: the browser's own model lives in the window, the loop in a worker.
 *
 * The window calls `lendTextModel(port1, model)` and sends port2 to the trainer, which calls `borrowTextModel(port2)`.
 */
import { asDreamError } from '../../data/errors';
import { Caller, type Port, serve } from './channel';
import type { TextCompletion, TextModel, TextModelKind, TextModelLimits, TextRequest } from './text-model';

interface Facts {
  kind: TextModelKind;
  label: string;
  limits: TextModelLimits;
}

/** Offers `model` on `port`. Returns how to take it back; the model itself stays the caller's to dispose. */
export function lendTextModel(port: Port, model: TextModel): () => void {
  const facts = (): Facts => ({ kind: model.kind, label: model.label, limits: { ...model.limits } });
  return serve(
    port,
    {
      facts: async () => facts(),
      complete: async (payload, { signal }) => ({
        completions: await model.complete(payload as TextRequest[], signal),
        facts: facts(),
      }),
    },
    asDreamError,
  );
}

/** The borrower's end. `dispose` lets go of the port and leaves the model alone. */
export async function borrowTextModel(port: Port): Promise<TextModel> {
  const caller = new Caller(port);
  let facts = (await caller.call('facts', null)) as Facts;
  return {
    kind: facts.kind,
    label: facts.label,
    get limits() {
      return facts.limits;
    },
    async complete(requests, signal) {
      const answer = (await caller.call('complete', requests, { signal })) as {
        completions: TextCompletion[];
        facts: Facts;
      };
      facts = answer.facts;
      return answer.completions;
    },
    dispose: () => caller.fail(new DOMException('The model was given back.', 'AbortError')),
  };
}
