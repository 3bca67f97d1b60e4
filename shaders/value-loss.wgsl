// The critic's clipped squared error (PPO, Schulman et al. 2017, as implemented; dreamgym.md 5.2) and its gradient:
//   loss = w / 2 max((V - R)^2, (clamp(V, V_old - clip, V_old + clip) - R)^2);  clip 0 = plain w / 2 (V - R)^2
//
// value_loss  | 1 values [n] | 2 old_values [n] | 3 returns [n] | 4 weights [n] | 5 grad_values [n]
// value_stats | 1 .. 4 as above | 5 stats [4]: loss | clipped | tokens | sum of |V - R|
// Tokens of weight 0 are skipped whatever their other numbers are.

struct Params { n: u32, accumulate: u32, clip: f32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> values: array<f32>;
@group(0) @binding(2) var<storage, read> old_values: array<f32>;
@group(0) @binding(3) var<storage, read> returns: array<f32>;
@group(0) @binding(4) var<storage, read> weights: array<f32>;
@group(0) @binding(5) var<storage, read_write> grad_values: array<f32>;

struct Term { loss: f32, slope: f32, clipped: bool }

fn value_term(i: u32) -> Term {
  let error = values[i] - returns[i];
  var term = Term(0.5 * error * error, error, false);
  if (params.clip > 0.0) {
    let bounded = clamp(values[i], old_values[i] - params.clip, old_values[i] + params.clip) - returns[i];
    // Where the bound makes the error larger, moving V a little changes nothing.
    if (bounded * bounded > error * error) { term = Term(0.5 * bounded * bounded, 0.0, true); }
  }
  return term;
}

@compute @workgroup_size(64)
fn value_loss(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  if (i >= params.n) { return; }
  grad_values[i] = 0.0;
  if (weights[i] != 0.0) { grad_values[i] = weights[i] * value_term(i).slope; }
}

@group(0) @binding(5) var<storage, read_write> stats: array<f32>;

const LANES = 64u;
var<workgroup> lane_stats: array<vec4f, LANES>;

@compute @workgroup_size(LANES)
fn value_stats(@builtin(local_invocation_index) lane: u32) {
  var sums = vec4f(0.0);
  for (var i = lane; i < params.n; i += LANES) {
    if (weights[i] == 0.0) { continue; }
    let term = value_term(i);
    sums += vec4f(weights[i] * term.loss, f32(term.clipped), 1.0, abs(values[i] - returns[i]));
  }
  lane_stats[lane] = sums;
  workgroupBarrier();
  if (lane >= 4u) { return; }
  var total = 0.0;
  for (var i = 0u; i < LANES; i++) { total += lane_stats[i][lane]; }
  if (params.accumulate == 1u) { stats[lane] += total; } else { stats[lane] = total; }
}
