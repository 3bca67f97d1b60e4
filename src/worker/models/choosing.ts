/** @file What is being looked at: opened as far as its headers; a newer choice makes an older one give up. */
import { type ChoiceParts, type OpenedModel, openChoice } from './model-choice';
import type { ModelChoice } from './protocol';
import { nothingChosen, superseded } from './service-errors';

export class Choosing {
  chosen: OpenedModel | null = null;
  private inspecting: AbortController | null = null;

  /** @param inUse the model whose files must stay open. */
  constructor(
    private readonly parts: ChoiceParts,
    private readonly inUse: () => OpenedModel | null,
  ) {}

  /** Throws `superseded`, and what `openChoice` throws. */
  async inspect(choice: ModelChoice): Promise<OpenedModel> {
    this.inspecting?.abort();
    const mine = new AbortController();
    this.inspecting = mine;
    let opened: OpenedModel;
    try {
      opened = await openChoice(choice, this.parts, mine.signal);
    } catch (error) {
      throw mine.signal.aborted ? superseded() : error;
    }
    if (mine.signal.aborted) {
      opened.source.close();
      throw superseded();
    }
    if (this.chosen && this.chosen.source !== this.inUse()?.source) this.chosen.source.close();
    this.chosen = opened;
    return opened;
  }

  /** Throws `nothing-chosen`. */
  whatIsChosen(): OpenedModel {
    if (this.chosen) return this.chosen;
    throw nothingChosen();
  }
}
