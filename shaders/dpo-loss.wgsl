// Direct preference optimisation (Rafailov et al. 2023) over pairs, with label smoothing e (Mitchell 2023):
//   h = beta (sum of (logprob - ref) over the chosen - the same over the rejected)
//   loss = -(1 - e) log sigmoid(h) - e log sigmoid(-h), averaged over pairs
//
// | binding | buffer        | shape                                                                         |
// | 1       | starts        | [2 pairs + 1]: sequence 2p is chosen, 2p + 1 rejected                          |
// | 2       | logprob       | [n]                                                                           |
// | 3       | ref_logprob   | [n]                                                                           |
// | 4       | mask          | [n]: 1 = the policy's word; elsewhere nothing is read as a number              |
// | 5       | token_weights | [n]: -d loss / d logprob: weighted SFT with these weights is DPO's gradient    |
// | 6       | pair_stats    | [pairs, 4]: loss, reward of chosen, reward of rejected (beta x log-ratio), h   |
//
// The sums need both sequences of a pair, which may lie in different batches; hence the detour over weights.

struct Params { pairs: u32, beta: f32, smoothing: f32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> starts: array<u32>;
@group(0) @binding(2) var<storage, read> logprob: array<f32>;
@group(0) @binding(3) var<storage, read> ref_logprob: array<f32>;
@group(0) @binding(4) var<storage, read> mask: array<u32>;
@group(0) @binding(5) var<storage, read_write> token_weights: array<f32>;
@group(0) @binding(6) var<storage, read_write> pair_stats: array<vec4f>;

const LANES = 64u;
var<workgroup> lane_sum: array<vec2f, LANES>;

fn log_ratio(i: u32) -> f32 {
  if (mask[i] == 0u) { return 0.0; }
  return logprob[i] - ref_logprob[i];
}

/// log(1 + exp(-|h|)); for small x the sum 1 + x would round most of x away.
fn softplus_tail(h: f32) -> f32 {
  let x = exp(-abs(h));
  if (x < 0.02) { return x * (1.0 - x * (0.5 - x * (1.0 / 3.0 - 0.25 * x))); }
  return log(1.0 + x);
}

// A workgroup per pair.
@compute @workgroup_size(LANES)
fn dpo_loss(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let pair = group.x;
  let first = starts[2u * pair];
  let middle = starts[2u * pair + 1u];
  let end = starts[2u * pair + 2u];
  var own = vec2f(0.0);
  for (var i = first + lane; i < middle; i += LANES) { own.x += log_ratio(i); }
  for (var i = middle + lane; i < end; i += LANES) { own.y += log_ratio(i); }
  lane_sum[lane] = own;
  workgroupBarrier();
  var rewards = vec2f(0.0);
  for (var i = 0u; i < LANES; i++) { rewards += lane_sum[i]; }
  rewards *= params.beta;
  let h = rewards.x - rewards.y;

  // sigmoid(-h) without overflow on either side.
  let small = exp(-abs(h)) / (1.0 + exp(-abs(h)));
  let wrong = select(1.0 - small, small, h >= 0.0);
  let right = select(small, 1.0 - small, h >= 0.0);
  let push = ((1.0 - params.smoothing) * wrong - params.smoothing * right) * params.beta / f32(params.pairs);
  for (var i = first + lane; i < middle; i += LANES) { token_weights[i] = select(0.0, push, mask[i] != 0u); }
  for (var i = middle + lane; i < end; i += LANES) { token_weights[i] = select(0.0, -push, mask[i] != 0u); }
  if (lane != 0u) { return; }
  let tail = softplus_tail(h);
  let loss = (1.0 - params.smoothing) * (max(-h, 0.0) + tail) + params.smoothing * (max(h, 0.0) + tail);
  pair_stats[pair] = vec4f(loss, rewards.x, rewards.y, h);
}
