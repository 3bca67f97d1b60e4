/** @file An engine of plain code that can die on command, as a graphics driver does. */
import { DreamError } from '../../src/data/errors';
import type { ModelState, TrainStats } from '../../src/nn/language-model';
import type { Engine, OpenEngine } from '../../src/worker/engine';
import { cpuTopK } from '../dream/cpu-top-k';
import { KnowingModel, TableModel } from '../dream/fake-models';
import { fakeDomain } from '../dream/fake-world';
import { cpuAdvantages } from '../rl/cpu-advantages';

/** A policy on a device that may be gone: then it complains, or never answers. */
export class MortalModel extends TableModel {
  dead = false;
  silent = false;
  /** What a training step takes, in ms. */
  stepMs = 0;
  /** Called before every training step. */
  beforeStep: (() => void) | null = null;

  private async check(): Promise<void> {
    if (this.silent) await new Promise<never>(() => {});
    if (this.dead) throw new DreamError('gpu-lost', 'The GPU device was lost.', '');
  }

  override async trainStep(...args: Parameters<TableModel['trainStep']>): Promise<TrainStats> {
    this.beforeStep?.();
    if (this.stepMs > 0) await new Promise((resolve) => setTimeout(resolve, this.stepMs));
    await this.check();
    return super.trainStep(...args);
  }

  override async exportState(withOptimizer: boolean): Promise<ModelState> {
    await this.check();
    return super.exportState(withOptimizer);
  }
}

export interface FakeMachine {
  openEngine: OpenEngine;
  /** Every engine that was opened, oldest first. */
  engines: { policy: MortalModel; kill(reason?: string): void; hang(): void; closed: boolean }[];
  /** The next openings fail with these. */
  failures: unknown[];
}

export function fakeMachine(onOpen?: (policy: MortalModel, count: number) => void): FakeMachine {
  const machine: FakeMachine = {
    engines: [],
    failures: [],
    async openEngine(onPhase) {
      onPhase('loading', 'opening');
      onPhase('self-test', 'testing');
      const failure = machine.failures.shift();
      if (failure) throw failure;
      const policy = new MortalModel();
      const warmStart = await policy.exportState(true);
      let lose = (_reason: string) => {};
      const lost = new Promise<string>((resolve) => {
        lose = resolve;
      });
      const record = {
        policy,
        closed: false,
        kill(reason = 'driver reset') {
          policy.dead = true;
          lose(reason);
        },
        hang() {
          policy.silent = true;
          lose('process killed');
        },
      };
      machine.engines.push(record);
      onOpen?.(policy, machine.engines.length);
      const engine: Engine = {
        adapter: 'plain code',
        software: true,
        gpuBytes: () => 99,
        lost,
        async parts() {
          await policy.importState(warmStart);
          return {
            policy,
            experience: new KnowingModel(),
            domain: fakeDomain(),
            kernels: { advantages: cpuAdvantages, topK: cpuTopK },
          };
        },
        close() {
          record.closed = true;
          lose('destroyed');
        },
      };
      return engine;
    },
  };
  return machine;
}
