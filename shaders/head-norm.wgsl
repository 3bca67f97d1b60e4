// RMSNorm of every query and key head (Qwen3), between the projection and the rotation; values pass unchanged.
//
// head_norm_forward  | 1 raw [t, width] | 2 weight [2, d]: queries', keys' | 3 qkv [t, width]: its first heads are set | 4 scale [t, heads]
// head_norm_backward | 1 raw            | 2 weight                         | 3 dqkv [t, width], replaced              | 4 scale
//   dx = r w dy - x r^3 / d sum(w dy x), as in rmsnorm.wgsl. The weights are frozen: no gradient.

struct Params { t: u32, query_heads: u32, heads: u32, d: u32, width: u32, eps: f32 } // heads: queries and keys together

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> raw: array<f32>;
@group(0) @binding(2) var<storage, read> weight: array<f32>;
@group(0) @binding(3) var<storage, read_write> qkv: array<f32>;
@group(0) @binding(4) var<storage, read_write> scale: array<f32>;

@compute @workgroup_size(64)
fn head_norm_forward(@builtin(global_invocation_id) id: vec3u) {
  let row = id.x / params.heads;
  let head = id.x % params.heads;
  if (row >= params.t) { return; }
  let base = row * params.width + head * params.d;
  let w = select(0u, params.d, head >= params.query_heads);
  var total = 0.0;
  for (var i = 0u; i < params.d; i++) { total = fma(raw[base + i], raw[base + i], total); }
  let r = inverseSqrt(total / f32(params.d) + params.eps);
  scale[id.x] = r;
  for (var i = 0u; i < params.d; i++) { qkv[base + i] = raw[base + i] * r * weight[w + i]; }
}

@compute @workgroup_size(64)
fn head_norm_backward(@builtin(global_invocation_id) id: vec3u) {
  let row = id.x / params.heads;
  let head = id.x % params.heads;
  if (row >= params.t) { return; }
  let base = row * params.width + head * params.d;
  let w = select(0u, params.d, head >= params.query_heads);
  var total = 0.0;
  for (var i = 0u; i < params.d; i++) { total = fma(weight[w + i] * qkv[base + i], raw[base + i], total); }
  let r = scale[id.x];
  let c = r * r * r / f32(params.d) * total;
  for (var i = 0u; i < params.d; i++) { qkv[base + i] = weight[w + i] * qkv[base + i] * r - raw[base + i] * c; }
}
