// Group-relative advantages: A_i = (r_i - mean of its group) / scale. The rollouts of one task are each other's baseline.
//
// batch_std         | 1 returns [n] | 2 batch [1]: unbiased standard deviation of all returns
// group_advantages  | 1 returns [n], sorted by group | 2 starts [groups + 1] | 3 batch [1] (read when mode = 2)
//                   | 4 advantages [n] | 5 group_std [groups], unbiased | 6 zero_variance [groups]: 1 = all returns equal
//
// mode 0 (group-std): scale = group std + eps     GRPO (Shao et al. 2024); TRL adds 1e-4, verl 1e-6
// mode 1 (group-mean): scale = 1                  Dr. GRPO (Liu et al. 2025)
// mode 2 (batch-std): scale = batch std + eps     TRL's scale_rewards="batch"; the mean stays the group's
// mode 3 (leave-one-out): scale = (size - 1) / size  RLOO (Ahmadian et al. 2024): the mean of the others is the baseline
// A group of one has no baseline: A = 0, or with raw_singleton (verl: mean 0, std 1) A = r / scale with std = 1.
//
// Sums run over r - r[first]: equal returns then give exactly zero, whatever their binary fractions are.

struct Params { n: u32, groups: u32, mode: u32, raw_singleton: u32, eps: f32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> returns: array<f32>;
@group(0) @binding(2) var<storage, read> starts: array<u32>;
@group(0) @binding(3) var<storage, read> batch: array<f32>;
@group(0) @binding(4) var<storage, read_write> advantages: array<f32>;
@group(0) @binding(5) var<storage, read_write> group_std: array<f32>;
@group(0) @binding(6) var<storage, read_write> zero_variance: array<u32>;

/// Mean (relative to the first value) and unbiased standard deviation of returns[first, end).
fn moments(first: u32, end: u32) -> vec2f {
  let count = f32(end - first);
  let origin = returns[first];
  var sum = 0.0;
  for (var i = first; i < end; i++) { sum += returns[i] - origin; }
  let mean = sum / count;
  var squares = 0.0;
  for (var i = first; i < end; i++) {
    let d = (returns[i] - origin) - mean;
    squares = fma(d, d, squares);
  }
  return vec2f(mean, select(0.0, sqrt(squares / (count - 1.0)), end - first > 1u));
}

@compute @workgroup_size(64)
fn group_advantages(@builtin(global_invocation_id) id: vec3u) {
  let group = id.x;
  if (group >= params.groups) { return; }
  let first = starts[group];
  let end = starts[group + 1u];
  group_std[group] = 0.0;
  zero_variance[group] = 1u;
  if (end <= first) { return; }

  let origin = returns[first];
  let own = moments(first, end);
  var equal = 1u;
  for (var i = first; i < end; i++) { equal &= u32(returns[i] == origin); }
  group_std[group] = own.y;
  zero_variance[group] = equal;

  var scale = 1.0;
  if (params.mode == 0u) { scale = own.y + params.eps; }
  if (params.mode == 2u) { scale = batch[0] + params.eps; }
  if (params.mode == 3u && end - first > 1u) { scale = f32(end - first - 1u) / f32(end - first); }
  if (end - first == 1u) {
    if (params.mode == 0u) { scale = 1.0 + params.eps; }
    advantages[first] = select(0.0, origin / scale, params.raw_singleton == 1u);
    return;
  }
  for (var i = first; i < end; i++) {
    // Equal returns: the batch's scale must not turn rounding into a signal either.
    advantages[i] = select(((returns[i] - origin) - own.x) / scale, 0.0, equal == 1u);
  }
}

@group(0) @binding(2) var<storage, read_write> batch_out: array<f32>;

// One thread: a batch is a few hundred returns, and a fixed order is worth more than speed here.
@compute @workgroup_size(1)
fn batch_std() {
  batch_out[0] = 0.0;
  if (params.n > 1u) { batch_out[0] = moments(0u, params.n).y; }
}
