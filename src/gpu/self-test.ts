/**
 * @file The start-up self-test: is this device's arithmetic to be trusted?
 *
 * Drivers exist that compute wrong numbers without any error (transformers.js #1381, onnxruntime #26367). The program's
 * own shaders run here on small fixed data against plain code; a device that fails is refused before it trains on
 * nonsense. All checks are one submission, so the whole test costs little more than compiling the kernels.
 */
import { DreamError } from '../data/errors';
import type { GpuBuffer } from './buffers';
import { advantageChecks } from './checks/advantage-checks';
import type { Check, Numbers } from './checks/check';
import { deviceChecks } from './checks/device-checks';
import { lossChecks } from './checks/loss-checks';
import { nnChecks } from './checks/nn-checks';
import { topKCheck } from './checks/top-k-check';
import type { Gpu } from './device';

export interface SelfTestResult {
  name: string;
  ok: boolean;
  /** Largest |got - expected| / max(1, |expected|); Number.MAX_VALUE when the kernel gave no number or did not run. */
  maxError: number;
}

export interface SelfTestOptions {
  /** Falsifies this check's shader, to show that a wrong device is refused. Throws `unknown-kernel` for a strange name. */
  breakKernel?: string;
}

function allChecks(): Check[] {
  return [...deviceChecks(), ...nnChecks(), ...advantageChecks(), ...lossChecks(), topKCheck()];
}

/** Names of the checks, in order. */
export function selfTestNames(): string[] {
  return allChecks().map((check) => check.name);
}

/** Runs every check. A device that cannot run one fails it; only a lost device throws. */
export async function runSelfTest(gpu: Gpu, { breakKernel }: SelfTestOptions = {}): Promise<SelfTestResult[]> {
  const checks = allChecks();
  if (breakKernel !== undefined && !checks.some((check) => check.name === breakKernel)) {
    throw new DreamError(
      'unknown-kernel',
      `There is no self-test "${breakKernel}".`,
      `Choose one of: ${checks.map((check) => check.name).join(', ')}.`,
    );
  }
  return runChecks(gpu, checks, { breakKernel });
}

/** Runs these checks in one submission. A device that cannot run one fails it; only a lost device throws. */
export async function runChecks(
  gpu: Gpu,
  checks: readonly Check[],
  { breakKernel }: SelfTestOptions = {},
): Promise<SelfTestResult[]> {
  const kernels = checks.map((check) =>
    gpu.kernel(check.name === breakKernel ? falsified(check.source) : check.source, check.entry),
  );
  // A kernel that does not compile fails its own check below.
  await gpu.ready().catch(() => gpu.assertHealthy());

  const buffers = checks.map((check) => check.bindings.map((data) => gpu.upload(data, `self-test ${check.name}`)));
  try {
    const rec = gpu.record('self-test');
    const ran = checks.map((check, i) => {
      if (!kernels[i].pipeline) return false;
      rec.dispatch(kernels[i], buffers[i], check.workgroups, check.u32, check.f32);
      return true;
    });
    rec.submit();
    // Read back together: a browser answers each request only after a while.
    return await Promise.all(
      checks.map(async ({ name, tolerance }, i) => {
        const maxError = ran[i] ? await largestError(gpu, checks[i], buffers[i]) : Number.MAX_VALUE;
        return { name, ok: maxError <= tolerance, maxError };
      }),
    );
  } finally {
    for (const buffer of buffers.flat()) buffer.release();
  }
}

/** Throws `self-test-failed` unless every check passed. */
export function assertDevicePasses(results: readonly SelfTestResult[]): void {
  const failed = results.filter((result) => !result.ok).map((result) => result.name);
  if (failed.length === 0) return;
  throw new DreamError(
    'self-test-failed',
    `This graphics device computes wrong numbers (${failed.join(', ')}), so nothing is trained on it.`,
    'Update the graphics driver and the browser, or choose another adapter or machine; the recorded run can still be watched.',
  );
}

async function largestError(gpu: Gpu, check: Check, buffers: readonly GpuBuffer[]): Promise<number> {
  let worst = 0;
  for (const { binding, values } of check.expected) {
    const like = check.bindings[binding - 1];
    const got = view(await gpu.read(buffers[binding - 1], like.byteLength), like);
    for (let i = 0; i < values.length; i++) {
      const error = Math.abs(got[i] - values[i]) / Math.max(1, Math.abs(values[i]));
      worst = Math.max(worst, Number.isFinite(error) ? error : Number.MAX_VALUE);
    }
  }
  return worst;
}

function view(bytes: ArrayBuffer, like: Numbers): Numbers {
  if (like instanceof Float32Array) return new Float32Array(bytes);
  return like instanceof Int32Array ? new Int32Array(bytes) : new Uint32Array(bytes);
}

/** The shader with everything it stores made 1/16 too large, integers one too large: what a bad driver might do. */
export function falsified(source: string): string {
  let result = source.replace(/\/\/.*$/gm, ''); // comments quote formulas that look like stores
  for (const [, name, type] of source.matchAll(/var<storage, read_write> (\w+): array<([^;]+)>;/g)) {
    // The name, an index with brackets nested once, a component or not, a plain or adding assignment, the value.
    const store = new RegExp(
      `\\b(${name}\\[(?:[^\\[\\]]|\\[[^\\]]*\\])*\\](?:\\.\\w+)?\\s*[+-]?=(?!=)\\s*)([^;]+);`,
      'g',
    );
    const vector = /^vec(\d)/.exec(type)?.[0];
    const integer = /u$|u32|i32|<i/.test(type);
    const one = /i32|<i/.test(type) ? 'i32(1)' : '1u';
    result = result.replace(store, (statement: string, target: string, value: string) => {
      if (!integer) return `${target}(${value}) * 1.0625;`;
      const component = /\.\w\s*[+-]?=/.test(statement);
      return `${target}(${value}) + ${vector && !component ? `${type}(1)` : one};`;
    });
  }
  return result;
}
