/** @file The typed surface between the experiments panel and its worker. */
import type { ExperimentDefinition, Stage } from '../../dream/experiment/definition';
import type { Row, RunResult } from '../../dream/experiment/results';
import type { TypedError } from '../protocol';

export interface SummaryRow {
  name: string;
  /** What the paper reports for it, as text. */
  paper?: string;
  /** What is done from the common warm start on, in this order. */
  stages: readonly Stage[];
  /** How it is examined, where it plans. */
  planning?: ExperimentDefinition['rows'][number]['planning'];
  finished: number;
}

export interface ExperimentSummary {
  name: string;
  about: string;
  baseline: string | null;
  /** Of every stage that learns by RL, unless it says otherwise itself. */
  settings: ExperimentDefinition['settings'];
  rows: SummaryRow[];
  seeds: number[];
  runs: number;
  finished: number;
  hasQuick: boolean;
}

export type ExperimentEvent =
  | {
      type: 'progress';
      run: string;
      row: string;
      seed: number;
      fraction: number;
      detail: string;
      secondsLeft: number | null;
    }
  | { type: 'results'; rows: Row[]; finished: number; runs: number }
  | { type: 'ended'; how: 'finished' | 'stopped' }
  | { type: 'error'; error: TypedError };

export interface ExperimentsApi {
  subscribe(listener: (event: ExperimentEvent) => void): void;
  /** Checks a definition, called `name` in messages, and says what of it is done. Throws `bad-experiment`, `config-invalid`. */
  describe(definition: unknown, quick: boolean, name?: string): Promise<ExperimentSummary>;
  /**
   * Runs what is left of it; resolves when it has begun. Throws as `describe`, and `busy`; that another tab runs it comes
   * as an event.
   */
  start(definition: unknown, quick: boolean): Promise<void>;
  /** Stops at the next safe point; what was finished stays. */
  stop(): Promise<void>;
  /** Forgets all results of it. */
  forget(definition: unknown, quick: boolean): Promise<void>;
  results(definition: unknown, quick: boolean): Promise<{ rows: Row[]; results: RunResult[] }>;
}

export type { ExperimentDefinition };
