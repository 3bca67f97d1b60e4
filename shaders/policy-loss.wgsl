// The clipped policy loss (PPO, Schulman et al. 2017; GRPO) with dual clip (Ye et al. 2020), its gradient and statistics.
//
// policy_loss   | 1 logprob [n] | 2 old_logprob [n] | 3 ref_logprob [n] | 4 advantages [n] | 5 weights [n]
//               | 6 grad_logprob [n] | 7 grad_entropy [n] | 8 sample_log_ratio [n] (read when importance = 1)
// policy_stats  | 1 .. 5 as above | 6 entropy [n] | 7 stats [8] | 8 as above
// sft_loss      | 1 weights [n] | 2 grad_logprob [n] | 3 grad_entropy [n]
// sft_stats     | 1 logprob [n] | 2 weights [n] | 3 entropy [n] | 4 stats [8]
//
// Per token, with x = logprob - old, ratio = exp(clamp(x, -20, 20)), A = advantage, w = weight (mask x aggregation):
//   surrogate = max(-A ratio, -A clamp(ratio, 1 - clip_low, 1 + clip_high));  if A < 0: min(surrogate, -A dual_clip)
//   loss      = w (surrogate + kl_coef k - entropy_coef H),  k = k1, k2 or k3 of kl.wgsl against the reference
//   dL/dlogprob = w (-A ratio [not clipped and |x| <= 20] + kl_coef dk/dlogprob);  dL/dH = -entropy_coef w
// With importance = 1 (GSPO, Zheng et al. 2025) x is the mean log-ratio of the token's sample (sequence-ratio.wgsl), held
// still, times the token's own ratio over itself: the value is the sample's, the gradient goes to each of its tokens (verl).
// SFT: loss = -w logprob.
// Tokens of weight 0 are skipped whatever their other numbers are: padding may hold garbage.
//
// stats, summed over tokens with weight != 0:
//   0 loss | 1 entropy | 2 k3 against old | 3 clipped | 4 tokens | 5 |logprob - old| | 6 k against reference
//   7 clipped from above (ratio too large), a part of 3

struct Params {
  n: u32,
  accumulate: u32, // 1: add to stats, 0: replace them
  kl_kind: u32, // 1, 2, 3
  importance: u32, // 0 = a ratio per token, 1 = one per sample
  clip_low: f32,
  clip_high: f32,
  dual_clip: f32, // 0 = off
  kl_coef: f32, // 0 = ref_logprob is never read
  entropy_coef: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> logprob: array<f32>;
@group(0) @binding(2) var<storage, read> old_logprob: array<f32>;
@group(0) @binding(3) var<storage, read> ref_logprob: array<f32>;
@group(0) @binding(4) var<storage, read> advantages: array<f32>;
@group(0) @binding(5) var<storage, read> weights: array<f32>;
@group(0) @binding(6) var<storage, read_write> grad_logprob: array<f32>;
@group(0) @binding(7) var<storage, read_write> grad_entropy: array<f32>;
@group(0) @binding(8) var<storage, read> sample_log_ratio: array<f32>;

/// exp(d) - d - 1. Near 0 the subtraction would leave only rounding, so the series speaks there.
fn k3(d: f32) -> f32 {
  if (abs(d) > 0.5) { return exp(d) - d - 1.0; }
  let tail = 1.0 + d / 6.0 * (1.0 + d / 7.0 * (1.0 + d / 8.0));
  return d * d * 0.5 * (1.0 + d / 3.0 * (1.0 + d / 4.0 * (1.0 + d / 5.0 * tail)));
}

struct Term {
  loss: f32, // without weight and entropy
  slope: f32, // d loss / d logprob
  clipped_below: bool,
  clipped_above: bool,
  kl_old: f32,
  kl_ref: f32,
}

fn policy_term(i: u32) -> Term {
  var term: Term;
  let own = logprob[i] - old_logprob[i];
  var x = own;
  if (params.importance == 1u) { x = sample_log_ratio[i]; }
  let ratio = exp(clamp(x, -20.0, 20.0));
  let a = advantages[i];
  let low = 1.0 - params.clip_low;
  let high = 1.0 + params.clip_high;
  term.loss = max(-a * ratio, -a * clamp(ratio, low, high));
  term.clipped_above = a > 0.0 && ratio > high;
  term.clipped_below = a < 0.0 && ratio < low;
  if (a < 0.0 && params.dual_clip > 0.0 && ratio > params.dual_clip) {
    term.loss = min(term.loss, -a * params.dual_clip);
    term.clipped_above = true;
  }
  term.slope = -a * ratio;
  if (term.clipped_above || term.clipped_below || abs(x) > 20.0) { term.slope = 0.0; }
  term.kl_old = min(k3(clamp(-own, -20.0, 20.0)), 10.0);
  term.kl_ref = 0.0;
  if (params.kl_coef != 0.0) {
    let d = ref_logprob[i] - logprob[i];
    if (params.kl_kind == 1u) {
      term.kl_ref = -d;
      term.slope += params.kl_coef;
    } else if (params.kl_kind == 2u) {
      term.kl_ref = 0.5 * d * d;
      term.slope -= params.kl_coef * d;
    } else {
      let value = k3(clamp(d, -20.0, 20.0));
      term.kl_ref = min(value, 10.0);
      if (abs(d) <= 20.0 && value <= 10.0) { term.slope -= params.kl_coef * (d + value); }
    }
    term.loss += params.kl_coef * term.kl_ref;
  }
  return term;
}

@compute @workgroup_size(64)
fn policy_loss(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  if (i >= params.n) { return; }
  let w = weights[i];
  grad_logprob[i] = 0.0;
  grad_entropy[i] = 0.0;
  if (w == 0.0) { return; }
  grad_logprob[i] = w * policy_term(i).slope;
  grad_entropy[i] = -params.entropy_coef * w;
}

@group(0) @binding(6) var<storage, read> entropy: array<f32>;
@group(0) @binding(7) var<storage, read_write> stats: array<f32>;

const LANES = 64u;
var<workgroup> lane_stats: array<array<f32, LANES>, 8>;

/// Adds the lanes in a fixed order; one barrier is cheaper than a tree on software adapters.
fn lanes_total(stat: u32) -> f32 {
  var total = 0.0;
  for (var i = 0u; i < LANES; i++) { total += lane_stats[stat][i]; }
  return total;
}

@compute @workgroup_size(LANES)
fn policy_stats(@builtin(local_invocation_index) lane: u32) {
  var sums: array<f32, 8>;
  for (var i = lane; i < params.n; i += LANES) {
    let w = weights[i];
    if (w == 0.0) { continue; }
    let term = policy_term(i);
    sums[0] += w * (term.loss - params.entropy_coef * entropy[i]);
    sums[1] += entropy[i];
    sums[2] += term.kl_old;
    sums[3] += f32(term.clipped_below || term.clipped_above);
    sums[4] += 1.0;
    sums[5] += abs(logprob[i] - old_logprob[i]);
    sums[6] += term.kl_ref;
    sums[7] += f32(term.clipped_above);
  }
  for (var s = 0u; s < 8u; s++) { lane_stats[s][lane] = sums[s]; }
  workgroupBarrier();
  if (lane >= 8u) { return; }
  let total = lanes_total(lane);
  if (params.accumulate == 1u) { stats[lane] += total; } else { stats[lane] = total; }
}

@group(0) @binding(1) var<storage, read> sft_loss_weights: array<f32>;
@group(0) @binding(2) var<storage, read_write> sft_grad_logprob: array<f32>;
@group(0) @binding(3) var<storage, read_write> sft_grad_entropy: array<f32>;

@compute @workgroup_size(64)
fn sft_loss(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= params.n) { return; }
  sft_grad_logprob[id.x] = -sft_loss_weights[id.x];
  sft_grad_entropy[id.x] = 0.0;
}

@group(0) @binding(2) var<storage, read> sft_weights: array<f32>;
@group(0) @binding(3) var<storage, read> sft_entropy: array<f32>;
@group(0) @binding(4) var<storage, read_write> sft_totals: array<f32>;

@compute @workgroup_size(LANES)
fn sft_stats(@builtin(local_invocation_index) lane: u32) {
  var sums: array<f32, 8>;
  for (var i = lane; i < params.n; i += LANES) {
    let w = sft_weights[i];
    if (w == 0.0) { continue; }
    sums[0] -= w * logprob[i];
    sums[1] += sft_entropy[i];
    sums[4] += 1.0;
  }
  for (var s = 0u; s < 8u; s++) { lane_stats[s][lane] = sums[s]; }
  workgroupBarrier();
  if (lane >= 8u) { return; }
  let total = lanes_total(lane);
  if (params.accumulate == 1u) { sft_totals[lane] += total; } else { sft_totals[lane] = total; }
}
