/** @file What this machine can do, asked once: secure context, WebGPU, adapter, limits. Each answer has its own card. */
import { signal } from '@preact/signals';
import { browserOf, insecureContext, noAdapter, noWebGpu, softwareAdapter, weakLimits } from '../messages/texts';
import { show } from './messages';

export interface Machine {
  state: 'checking' | 'ready' | 'blocked';
  adapter: string | null;
  software: boolean;
}

export const machine = signal<Machine>({ state: 'checking', adapter: null, software: false });

/** WebGPU's standard limits, which every kernel is written for (design.md, "Portable first"). */
const required = {
  maxStorageBuffersPerShaderStage: 8,
  maxComputeWorkgroupStorageSize: 16_384,
  maxComputeInvocationsPerWorkgroup: 256,
  maxStorageBufferBindingSize: 128 * 1024 * 1024,
} as const;

/** Names by which software renderers are known. */
const softwareName = /swiftshader|llvmpipe|lavapipe|softpipe|basic render|warp|software/i;

export function nameOf(info: Pick<GPUAdapterInfo, 'vendor' | 'architecture' | 'device' | 'description'>): string {
  return (
    info.description || [info.vendor, info.architecture, info.device].filter(Boolean).join(' ') || 'an unnamed adapter'
  );
}

export function isSoftware(info: GPUAdapterInfo): boolean {
  return (
    info.isFallbackAdapter ||
    softwareName.test(`${info.vendor} ${info.architecture} ${info.device} ${info.description}`)
  );
}

export function missingLimits(limits: Readonly<Record<keyof typeof required, number>>): string[] {
  return (Object.keys(required) as (keyof typeof required)[])
    .filter((name) => limits[name] < required[name])
    .map((name) => `${name} is ${limits[name]}, needed ${required[name]}`);
}

function blocked(): void {
  machine.value = { state: 'blocked', adapter: null, software: false };
}

export async function checkMachine(): Promise<void> {
  if (!window.isSecureContext) {
    blocked();
    return show(insecureContext(window.location.origin));
  }
  const browser = browserOf(navigator.userAgent);
  if (!navigator.gpu) {
    blocked();
    return show(noWebGpu(browser));
  }
  let adapter: GPUAdapter | null = null;
  try {
    adapter = await navigator.gpu.requestAdapter({ powerPreference: 'high-performance' });
  } catch {
    // Some drivers reject instead of answering null; for the reader it is the same.
  }
  if (!adapter) {
    blocked();
    return show(noAdapter(browser));
  }
  const missing = missingLimits(adapter.limits);
  if (missing.length > 0) {
    blocked();
    return show(weakLimits(missing));
  }
  const name = nameOf(adapter.info);
  const software = isSoftware(adapter.info);
  machine.value = { state: 'ready', adapter: name, software };
  if (software) show(softwareAdapter(name));
}
