/** @file The typed surface between the experiments panel and its worker. */
import type { ExperimentDefinition } from '../../dream/experiment/definition';
import type { Row, RunResult } from '../../dream/experiment/results';
import type { TypedError } from '../protocol';

export interface ExperimentSummary {
  name: string;
  about: string;
  rows: { name: string; finished: number }[];
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
  /** Checks a definition and says what of it is done. Throws `bad-experiment`, `config-invalid`. */
  describe(definition: unknown, quick: boolean): Promise<ExperimentSummary>;
  /** Runs what is left of it; resolves when it has begun. Throws as `describe`, and `busy`. */
  start(definition: unknown, quick: boolean): Promise<void>;
  /** Stops at the next safe point; what was finished stays. */
  stop(): Promise<void>;
  /** Forgets all results of it. */
  forget(definition: unknown, quick: boolean): Promise<void>;
  results(definition: unknown, quick: boolean): Promise<{ rows: Row[]; results: RunResult[] }>;
}

export type { ExperimentDefinition };
