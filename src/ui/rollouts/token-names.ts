/** @file Token ids as words, from the embedded model's tokenizer.json (Hugging Face's WordLevel format); ids until it is here. */
import { signal } from '@preact/signals';
import * as v from 'valibot';

const names = signal<ReadonlyMap<number, string>>(new Map());
/** Where src/models/embedded.ts finds it too; importing that file would bring the whole engine into the page. */
const path = 'models/household-tiny/tokenizer.json';

const fileSchema = v.object({
  model: v.object({ vocab: v.record(v.string(), v.pipe(v.number(), v.integer(), v.minValue(0))) }),
});

/** Fetched once, after the first paint; without it the page still works and shows ids. */
export async function loadTokenNames(): Promise<void> {
  try {
    const response = await fetch(path);
    if (!response.ok) return;
    const parsed = v.safeParse(fileSchema, await response.json());
    if (parsed.success)
      names.value = new Map(Object.entries(parsed.output.model.vocab).map(([token, id]) => [id, token]));
  } catch {
    // A missing or foreign file costs only the words under the heat strip.
  }
}

/** Specials are shown by what they mean in a turn, not by their spelling. */
const meanings: Readonly<Record<string, string>> = { '<t>': 'think', '</t>': 'act', '\n': 'end' };

export function tokenName(id: number): string {
  const name = names.value.get(id);
  return name === undefined ? `#${id}` : (meanings[name] ?? name);
}
