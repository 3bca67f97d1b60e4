// AdamW (Loshchilov & Hutter 2019) with the global-norm clip folded in.
//
// | binding | buffer   | shape |
// | 1       | gradient | [n]   |
// | 2       | weight   | [n], updated |
// | 3       | moment1  | [n], updated |
// | 4       | moment2  | [n], updated |
// | 5       | norm     | [1]: sum of squares of all gradients of the step |
//
// A non-finite norm skips the update: weights and moments stay as they are (the CPU reads the norm and counts the skip).

struct Params {
  n: u32,
  learning_rate: f32,
  beta1: f32,
  beta2: f32,
  eps: f32,
  weight_decay: f32,
  correction1: f32, // 1 - beta1^step
  correction2: f32, // 1 - beta2^step
  max_norm: f32, // 0 = no clipping
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> gradient: array<f32>;
@group(0) @binding(2) var<storage, read_write> weight: array<f32>;
@group(0) @binding(3) var<storage, read_write> moment1: array<f32>;
@group(0) @binding(4) var<storage, read_write> moment2: array<f32>;
@group(0) @binding(5) var<storage, read> norm: array<f32>;

@compute @workgroup_size(64)
fn adamw(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * 64u + id.x;
  if (i >= params.n) { return; }
  // The exponent bits tell inf and NaN; comparisons with NaN may be optimised away.
  if ((bitcast<u32>(norm[0]) & 0x7f800000u) == 0x7f800000u) { return; }
  var g = gradient[i];
  let length = sqrt(norm[0]);
  if (params.max_norm > 0.0 && length > params.max_norm) { g *= params.max_norm / length; }
  let m = params.beta1 * moment1[i] + (1.0 - params.beta1) * g;
  let v = params.beta2 * moment2[i] + (1.0 - params.beta2) * g * g;
  moment1[i] = m;
  moment2[i] = v;
  let w = weight[i];
  let step = (m / params.correction1) / (sqrt(v / params.correction2) + params.eps);
  weight[i] = w - params.learning_rate * (step + params.weight_decay * w);
}
