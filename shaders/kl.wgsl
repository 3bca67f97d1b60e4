// Estimators of KL(policy || reference) per token, and their gradients by the policy's log-probability
// (Schulman 2020, "Approximating KL divergence"), with d = reference - policy log-probability:
//
//   kind 1 (k1): -d                  gradient 1
//   kind 2 (k2): d^2 / 2             gradient -d
//   kind 3 (k3): exp(d) - d - 1      gradient 1 - exp(d)
// As in verl, k3 clamps d to +-20 and its value to 10; a clamped side has no gradient (dreamgym.md, 5.2).
//
// | binding | buffer        | shape                                        |
// | 1       | logprob       | [n]                                          |
// | 2       | ref_logprob   | [n]                                          |
// | 3       | weights       | [n]: kl and gradient are multiplied by these; where 0 nothing is read as a number |
// | 4       | kl            | [n]                                          |
// | 5       | grad          | [n]: d kl / d logprob                        |

struct Params { n: u32, kind: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> logprob: array<f32>;
@group(0) @binding(2) var<storage, read> ref_logprob: array<f32>;
@group(0) @binding(3) var<storage, read> weights: array<f32>;
@group(0) @binding(4) var<storage, read_write> kl: array<f32>;
@group(0) @binding(5) var<storage, read_write> grad: array<f32>;

/// exp(d) - d - 1. Near 0 the subtraction would leave only rounding, so the series speaks there.
fn k3(d: f32) -> f32 {
  if (abs(d) > 0.5) { return exp(d) - d - 1.0; }
  let tail = 1.0 + d / 6.0 * (1.0 + d / 7.0 * (1.0 + d / 8.0));
  return d * d * 0.5 * (1.0 + d / 3.0 * (1.0 + d / 4.0 * (1.0 + d / 5.0 * tail)));
}

@compute @workgroup_size(64)
fn kl_estimate(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  if (i >= params.n) { return; }
  let w = weights[i];
  if (w == 0.0) {
    kl[i] = 0.0;
    grad[i] = 0.0;
    return;
  }
  let d = ref_logprob[i] - logprob[i];
  var value = -d;
  var slope = 1.0;
  if (params.kind == 2u) {
    value = 0.5 * d * d;
    slope = -d;
  }
  if (params.kind == 3u) {
    value = k3(clamp(d, -20.0, 20.0));
    slope = -(d + value); // 1 - exp(d), without the cancellation
    if (abs(d) > 20.0 || value > 10.0) { slope = 0.0; }
    value = min(value, 10.0);
  }
  kl[i] = w * value;
  grad[i] = w * slope;
}
