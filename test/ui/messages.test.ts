import { expect, test } from 'vitest';
import {
  browserOf,
  errorCard,
  insecureContext,
  noAdapter,
  noWebGpu,
  softwareAdapter,
  weakLimits,
} from '../../src/ui/messages/texts';
import { isSoftware, missingLimits, nameOf } from '../../src/ui/state/preflight';

const agents = {
  chrome: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36',
  edge: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36 Edg/156.0.0.0',
  firefox: 'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0',
  'safari-mac':
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15',
  'safari-ios':
    'Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/150.0 Mobile/15E148 Safari/604.1',
} as const;

test('advice is chosen by browser', () => {
  for (const [name, agent] of Object.entries(agents)) expect(browserOf(agent)).toBe(name);
  expect(browserOf('')).toBe('other');
});

test('every obstacle has its own words, and something to do', () => {
  const cards = [
    insecureContext('http://192.168.0.7:5173'),
    ...Object.keys(agents).map((name) => noWebGpu(name as keyof typeof agents)),
    noAdapter('chrome'),
    softwareAdapter('SwiftShader'),
    weakLimits(['maxStorageBuffersPerShaderStage is 4, needed 8']),
    ...[
      'device-lost',
      'gpu-out-of-memory',
      'storage-full',
      'storage-denied',
      'run-locked',
      'worker-crashed',
      'corrupt-run',
    ].map((code) => errorCard({ code, message: `m-${code}`, advice: 'Do this.' })),
  ];
  for (const card of cards) {
    expect(card.title).not.toBe('');
    expect(card.title).not.toBe('Something went wrong');
    expect(card.advice.length).toBeGreaterThan(0);
  }
  const texts = new Set(cards.map((card) => `${card.title} ${card.text} ${card.advice.join(' ')}`));
  expect(texts.size).toBe(cards.length);
});

test('an unknown error keeps its message', () => {
  expect(errorCard({ code: 'new-thing', message: 'It broke.', advice: '' })).toMatchObject({
    text: 'It broke.',
    advice: [],
  });
});

const info = { vendor: '', architecture: '', device: '', description: '', isFallbackAdapter: false };

test('software adapters are known by flag or by name', () => {
  expect(isSoftware({ ...info, isFallbackAdapter: true } as GPUAdapterInfo)).toBe(true);
  expect(isSoftware({ ...info, vendor: 'google', architecture: 'swiftshader' } as GPUAdapterInfo)).toBe(true);
  expect(isSoftware({ ...info, description: 'llvmpipe (LLVM 15)' } as GPUAdapterInfo)).toBe(true);
  expect(isSoftware({ ...info, vendor: 'apple', architecture: 'metal-3' } as GPUAdapterInfo)).toBe(false);
  expect(nameOf(info)).toBe('an unnamed adapter');
});

test('limits below the standard are named', () => {
  const standard = {
    maxStorageBuffersPerShaderStage: 8,
    maxComputeWorkgroupStorageSize: 16_384,
    maxComputeInvocationsPerWorkgroup: 256,
    maxStorageBufferBindingSize: 2 ** 27,
  };
  expect(missingLimits(standard)).toEqual([]);
  expect(missingLimits({ ...standard, maxStorageBuffersPerShaderStage: 4 })).toEqual([
    'maxStorageBuffersPerShaderStage is 4, needed 8',
  ]);
});
