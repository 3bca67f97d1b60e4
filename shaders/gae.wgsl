// Generalised advantage estimation (Schulman et al. 2016) over ragged sequences, and whitening of its result.
//
// gae             | 1 starts [sequences + 1] | 2 rewards [n] | 3 values [n] | 4 mask [n] | 5 advantages [n] | 6 returns [n]
//   d_t = r_t + gamma V_next - V_t;  A_t = d_t + gamma lambda A_next;  returns = A + V
//   V_next and A_next pass unchanged over masked entries (verl, dreamgym.md 5.2): a world's words are no decision. A masked
//   entry itself gets the carried A_next. After the last entry V and A are 0.
//   mask: 1 = the policy acted here, 2 = and time stood still: gamma is 1 there (see returns.wgsl); lambda still counts it
// whiten_moments  | 1 mask [n] | 2 advantages [n] | 3 moments [2]: mean, 1 / sqrt(unbiased variance + 1e-8)
// whiten          | 1 mask [n] | 2 moments [2] | 3 advantages [n], updated: (A - mean) * scale, 0 where masked

struct Params { sequences: u32, n: u32, gamma: f32, lambda: f32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> starts: array<u32>;
@group(0) @binding(2) var<storage, read> rewards: array<f32>;
@group(0) @binding(3) var<storage, read> values: array<f32>;
@group(0) @binding(4) var<storage, read> mask: array<u32>;
@group(0) @binding(5) var<storage, read_write> advantages: array<f32>;
@group(0) @binding(6) var<storage, read_write> returns: array<f32>;

@compute @workgroup_size(64)
fn gae(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= params.sequences) { return; }
  let first = starts[id.x];
  var next_value = 0.0;
  var next_advantage = 0.0;
  for (var t = starts[id.x + 1u]; t > first; t--) {
    let at = t - 1u;
    if (mask[at] != 0u) {
      let gamma = select(params.gamma, 1.0, mask[at] == 2u);
      let delta = fma(gamma, next_value, rewards[at]) - values[at];
      next_advantage = fma(gamma * params.lambda, next_advantage, delta);
      next_value = values[at];
    }
    advantages[at] = next_advantage;
    returns[at] = next_advantage + values[at];
  }
}

@group(0) @binding(1) var<storage, read> white_mask: array<u32>;
@group(0) @binding(2) var<storage, read> raw: array<f32>;
@group(0) @binding(3) var<storage, read_write> moments_out: array<f32>;

const LANES = 64u;
var<workgroup> lane_sum: array<f32, LANES>;
var<workgroup> lane_count: array<f32, LANES>;
var<workgroup> lane_squares: array<f32, LANES>;

// One workgroup, two passes; lane 0 adds the lanes in order, which costs one barrier instead of six.
// Sums run over a - (first unmasked a): equal advantages then become exactly zero, not rounding blown up by 1 / sqrt(1e-8).
@compute @workgroup_size(LANES)
fn whiten_moments(@builtin(local_invocation_index) lane: u32) {
  var origin = 0.0;
  for (var i = 0u; i < params.n; i++) {
    if (white_mask[i] != 0u) { origin = raw[i]; break; }
  }
  var sum = 0.0;
  var count = 0.0;
  for (var i = lane; i < params.n; i += LANES) {
    if (white_mask[i] != 0u) { sum += raw[i] - origin; count += 1.0; }
  }
  lane_sum[lane] = sum;
  lane_count[lane] = count;
  workgroupBarrier();
  var total = 0.0;
  var entries = 0.0;
  for (var i = 0u; i < LANES; i++) { total += lane_sum[i]; entries += lane_count[i]; }
  let mean = total / max(entries, 1.0);
  var squares = 0.0;
  for (var i = lane; i < params.n; i += LANES) {
    if (white_mask[i] != 0u) {
      let d = (raw[i] - origin) - mean;
      squares = fma(d, d, squares);
    }
  }
  lane_squares[lane] = squares;
  workgroupBarrier();
  if (lane != 0u) { return; }
  var all = 0.0;
  for (var i = 0u; i < LANES; i++) { all += lane_squares[i]; }
  moments_out[0] = origin + mean;
  moments_out[1] = inverseSqrt(all / max(entries - 1.0, 1.0) + 1e-8);
}

@group(0) @binding(2) var<storage, read> moments: array<f32>;
@group(0) @binding(3) var<storage, read_write> whitened: array<f32>;

@compute @workgroup_size(64)
fn whiten(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= params.n) { return; }
  whitened[id.x] = select(0.0, (whitened[id.x] - moments[0]) * moments[1], white_mask[id.x] != 0u);
}
