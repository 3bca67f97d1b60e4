// What every kernel silently relies on, asked of this very device at start-up (src/gpu/self-test.ts).
//
// arithmetic | 1 x [n] | 2 y [n, 8]: fma, quotient, root, inverse root, exp, log, round trip through u32, select/min/max
// memory     | 1 source [n] | 2 y [n]: y[i] = source[i * 40503 mod n] + i, a permutation because n is a power of two
// barriers   | 1 source [groups * 256] | 2 y [groups]: sum of a workgroup's 256 words by a tree through shared memory
// hash       | 1 source [n] | 2 y [n]: the sampler's integer hash, where every bit matters

struct Params { n: u32 }

@group(0) @binding(0) var<uniform> params: Params;

@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(64)
fn arithmetic(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= params.n) { return; }
  let a = x[id.x];
  let at = id.x * 8u;
  y[at] = fma(a, a, -1.0);
  y[at + 1u] = (a + 2.0) / (abs(a) + 3.0);
  y[at + 2u] = sqrt(abs(a));
  y[at + 3u] = inverseSqrt(abs(a) + 0.5);
  y[at + 4u] = exp(a);
  y[at + 5u] = log(abs(a) + 3.0);
  y[at + 6u] = f32(u32(abs(a) * 1000.0)) + bitcast<f32>(bitcast<u32>(a));
  y[at + 7u] = select(min(a, 1.0), max(a, 2.0), a > 1.5) + floor(a);
}

@group(0) @binding(1) var<storage, read> source: array<u32>;
@group(0) @binding(2) var<storage, read_write> words: array<u32>;

@compute @workgroup_size(256)
fn memory(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= params.n) { return; }
  words[id.x] = source[(id.x * 40503u) & (params.n - 1u)] + id.x;
}

var<workgroup> shared_words: array<u32, 256>;

@compute @workgroup_size(256)
fn barriers(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  if (group.x >= params.n) { return; }
  shared_words[lane] = source[group.x * 256u + lane];
  workgroupBarrier();
  for (var stride = 128u; stride > 0u; stride >>= 1u) {
    if (lane < stride) { shared_words[lane] += shared_words[lane + stride]; }
    workgroupBarrier();
  }
  if (lane == 0u) { words[group.x] = shared_words[0]; }
}

// PCG hash (Jarzynski & Olano 2020), as in sampler.wgsl.
@compute @workgroup_size(64)
fn hash(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= params.n) { return; }
  let state = source[id.x] * 747796405u + 2891336453u;
  let word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
  words[id.x] = (word >> 22u) ^ word;
}
