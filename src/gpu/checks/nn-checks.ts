/** @file The language model's kernels, each against a few lines of plain code. */
import adamwSource from '../../../shaders/adamw.wgsl?raw';
import lmHeadSource from '../../../shaders/lm-head.wgsl?raw';
import matmulNnSource from '../../../shaders/matmul-nn.wgsl?raw';
import matmulTnSource from '../../../shaders/matmul-tn.wgsl?raw';
import rmsnormSource from '../../../shaders/rmsnorm.wgsl?raw';
import ropeSource from '../../../shaders/rope.wgsl?raw';
import swigluSource from '../../../shaders/swiglu.wgsl?raw';
import { attentionChecks } from './attention-checks';
import { type Check, numbers, sum, table } from './check';
import { samplerCheck } from './sampler-check';

export function nnChecks(): Check[] {
  return [
    matmulNn(),
    matmulTn(),
    rmsnorm(),
    rmsnormGradient(),
    rope(),
    ...attentionChecks(),
    swiglu(),
    lmHead(),
    lmHeadGradient(),
    samplerCheck(),
    adamw(),
  ];
}

function matmulNn(): Check {
  const [m, k, n] = [11, 24, 72];
  const a = numbers(1, m * k);
  const b = numbers(2, k * n);
  const y = numbers(3, m * n);
  return {
    name: 'matmul-nn',
    source: matmulNnSource,
    entry: 'matmul_nn',
    workgroups: [Math.ceil(n / 64), Math.ceil(m / 8)],
    u32: [m, n / 4, k / 4, k / 4, n / 4, 1],
    f32: [0.5],
    bindings: [a, b, y],
    expected: [
      {
        binding: 3,
        values: table(m * n, (i) => {
          const [row, column] = [Math.floor(i / n), i % n];
          return y[i] + 0.5 * sum(k, (j) => a[row * k + j] * b[j * n + column]);
        }),
      },
    ],
    tolerance: 1e-5,
  };
}

function matmulTn(): Check {
  const [m, k, n] = [12, 23, 68];
  const a = numbers(4, k * m);
  const b = numbers(5, k * n);
  return {
    name: 'matmul-tn',
    source: matmulTnSource,
    entry: 'matmul_tn',
    workgroups: [Math.ceil(n / 64), Math.ceil(m / 8)],
    u32: [m, n / 4, k, 0, 0],
    f32: [1],
    bindings: [a, b, new Float32Array(m * n)],
    expected: [
      {
        binding: 3,
        values: table(m * n, (i) => sum(k, (j) => a[j * m + Math.floor(i / n)] * b[j * n + (i % n)])),
      },
    ],
    tolerance: 1e-5,
  };
}

function rmsnorm(): Check {
  const [t, d, eps] = [5, 32, 1e-5];
  const x = numbers(6, t * d, 3);
  const weight = numbers(7, d);
  const scale = table(t, (row) => 1 / Math.sqrt(sum(d, (i) => x[row * d + i] ** 2) / d + eps));
  return {
    name: 'rmsnorm',
    source: rmsnormSource,
    entry: 'rmsnorm_forward',
    workgroups: [1],
    u32: [t, d / 4],
    f32: [eps],
    bindings: [x, weight, new Float32Array(t * d), new Float32Array(t)],
    expected: [
      { binding: 3, values: table(t * d, (i) => x[i] * scale[Math.floor(i / d)] * weight[i % d]) },
      { binding: 4, values: scale },
    ],
    tolerance: 1e-5,
  };
}

function rmsnormGradient(): Check {
  const [t, d] = [4, 16];
  const x = numbers(22, t * d, 3);
  const weight = numbers(23, d);
  const dy = numbers(24, t * d);
  const before = numbers(25, t * d); // the kernel adds to what is there
  const r = table(t, (row) => 1 / Math.sqrt(sum(d, (i) => x[row * d + i] ** 2) / d + 1e-5));
  const dot = (row: number) => sum(d, (i) => weight[i] * dy[row * d + i] * x[row * d + i]);
  return {
    name: 'rmsnorm-gradient',
    source: rmsnormSource,
    entry: 'rmsnorm_backward',
    workgroups: [1],
    u32: [t, d / 4],
    f32: [1e-5],
    bindings: [x, weight, dy, r, before],
    expected: [
      {
        binding: 5,
        values: table(t * d, (at) => {
          const row = Math.floor(at / d);
          return before[at] + r[row] * weight[at % d] * dy[at] - (x[at] * r[row] ** 3 * dot(row)) / d;
        }),
      },
    ],
    tolerance: 1e-5,
  };
}

function rope(): Check {
  const [t, heads, half, theta] = [4, 2, 4, 10_000];
  const width = heads * half * 2;
  const positions = [0, 1, 7, 40];
  const qkv = numbers(8, t * width);
  const turned = table(t * width, (at) => {
    const i = at % half;
    const second = Math.floor(at / half) % 2;
    const angle = positions[Math.floor(at / width)] * theta ** (-i / half);
    return second === 0
      ? qkv[at] * Math.cos(angle) - qkv[at + half] * Math.sin(angle)
      : qkv[at] * Math.cos(angle) + qkv[at - half] * Math.sin(angle);
  });
  return {
    name: 'rope',
    source: ropeSource,
    entry: 'rope',
    workgroups: [1, t],
    u32: [t, heads, half, width],
    f32: [theta, 1],
    bindings: [Uint32Array.from(positions.flatMap((position) => [0, position])), qkv],
    expected: [{ binding: 2, values: turned }],
    // WGSL promises sine and cosine only to 2^-11.
    tolerance: 2e-3,
  };
}

function swiglu(): Check {
  const [t, f] = [3, 16];
  const gateUp = numbers(10, t * 2 * f, 4);
  return {
    name: 'swiglu',
    source: swigluSource,
    entry: 'swiglu_forward',
    workgroups: [1, t],
    u32: [t, f / 4],
    bindings: [gateUp, new Float32Array(t * f)],
    expected: [
      {
        binding: 2,
        values: table(t * f, (i) => {
          const at = Math.floor(i / f) * 2 * f + (i % f);
          return (gateUp[at] / (1 + Math.exp(-gateUp[at]))) * gateUp[at + f];
        }),
      },
    ],
    tolerance: 1e-5,
  };
}

const head = (() => {
  const [n, v] = [4, 20];
  const logits = numbers(11, n * v, 5);
  const targets = Uint32Array.of(3, 0, 19, 7);
  const lse = table(n, (row) => Math.log(sum(v, (i) => Math.exp(logits[row * v + i]))));
  const p = (row: number, i: number) => Math.exp(logits[row * v + i] - lse[row]);
  const logProb = table(n, (row) => logits[row * v + targets[row]] - lse[row]);
  const entropy = table(n, (row) => -sum(v, (i) => p(row, i) * (logits[row * v + i] - lse[row])));
  return { n, v, logits, targets, lse, p, logProb, entropy };
})();

function lmHead(): Check {
  const { n, v, logits, targets, lse, logProb, entropy } = head;
  return {
    name: 'lm-head',
    source: lmHeadSource,
    entry: 'head_logprob',
    workgroups: [1],
    u32: [n, v, 0],
    bindings: [logits, targets, new Float32Array(n), new Float32Array(n), new Float32Array(n)],
    expected: [
      { binding: 3, values: logProb },
      { binding: 4, values: entropy },
      { binding: 5, values: lse },
    ],
    tolerance: 1e-5,
  };
}

function lmHeadGradient(): Check {
  const { n, v, logits, targets, lse, p, entropy } = head;
  const gradLogProb = numbers(12, n);
  const gradEntropy = numbers(13, n);
  return {
    name: 'lm-head-gradient',
    source: lmHeadSource,
    entry: 'head_grad',
    workgroups: [1, n],
    u32: [n, v, 0],
    bindings: [logits, targets, lse, entropy, gradLogProb, gradEntropy],
    expected: [
      {
        binding: 1,
        values: table(n * v, (at) => {
          const [row, i] = [Math.floor(at / v), at % v];
          const hit = targets[row] === i ? 1 : 0;
          const logP = logits[at] - lse[row];
          return gradLogProb[row] * (hit - p(row, i)) - gradEntropy[row] * p(row, i) * (logP + entropy[row]);
        }),
      },
    ],
    tolerance: 1e-5,
  };
}

function adamw(): Check {
  const n = 100;
  const gradient = numbers(14, n);
  const weight = numbers(15, n);
  const moment1 = numbers(16, n, 0.5);
  const moment2 = numbers(17, n, 0.5).map(Math.abs);
  const norm = sum(n, (i) => gradient[i] ** 2);
  const [rate, beta1, beta2, eps, decay, step, maxNorm] = [0.01, 0.9, 0.95, 1e-8, 0.1, 3, 1];
  const [correction1, correction2] = [1 - beta1 ** step, 1 - beta2 ** step];
  const g = (i: number) => (gradient[i] * maxNorm) / Math.sqrt(norm);
  const m = table(n, (i) => beta1 * moment1[i] + (1 - beta1) * g(i));
  const s = table(n, (i) => beta2 * moment2[i] + (1 - beta2) * g(i) ** 2);
  return {
    name: 'adamw',
    source: adamwSource,
    entry: 'adamw',
    workgroups: [Math.ceil(n / 64)],
    u32: [n],
    f32: [rate, beta1, beta2, eps, decay, correction1, correction2, maxNorm],
    bindings: [gradient, weight, moment1, moment2, Float32Array.of(norm)],
    expected: [
      {
        binding: 2,
        values: table(
          n,
          (i) => weight[i] - rate * (m[i] / correction1 / (Math.sqrt(s[i] / correction2) + eps) + decay * weight[i]),
        ),
      },
      { binding: 3, values: m },
      { binding: 4, values: s },
    ],
    tolerance: 1e-5,
  };
}
