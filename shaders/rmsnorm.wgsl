// RMSNorm (Zhang & Sennrich 2019): y = x * r * w with r = 1 / sqrt(mean(x^2) + eps), per row of width d.
//
// rmsnorm_forward            | 1 x [t, d] | 2 weight [d] | 3 y [t, d] | 4 scale r [t]
// rmsnorm_backward           | 1 x [t, d] | 2 weight [d] | 3 dy [t, d] | 4 scale [t] | 5 dx [t, d] (added to)
//   dx = r * (w dy) - x * r^3 / d * sum(w dy x)
// rmsnorm_backward_weight    | 1 x [t, d] | 2 dy [t, d] | 3 scale [t] | 4 partial [ceil(t / 64), d]
//   partial[b] = sum over the block's 64 rows of dy * x * r; sum_rows (reduce.wgsl) adds the blocks in order.

struct Params { t: u32, d4: u32, eps: f32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4f>;

@group(0) @binding(2) var<storage, read> weight: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> scale_out: array<f32>;

@compute @workgroup_size(64)
fn rmsnorm_forward(@builtin(global_invocation_id) id: vec3u) {
  let row = id.x;
  if (row >= params.t) { return; }
  let base = row * params.d4;
  var total = vec4f();
  for (var i = 0u; i < params.d4; i++) {
    let v = x[base + i];
    total = fma(v, v, total);
  }
  let r = inverseSqrt((total.x + total.y + total.z + total.w) / f32(params.d4 * 4u) + params.eps);
  scale_out[row] = r;
  for (var i = 0u; i < params.d4; i++) { y[base + i] = x[base + i] * r * weight[i]; }
}

@group(0) @binding(3) var<storage, read> dy: array<vec4f>;
@group(0) @binding(4) var<storage, read> scale: array<f32>;
@group(0) @binding(5) var<storage, read_write> dx: array<vec4f>;

@compute @workgroup_size(64)
fn rmsnorm_backward(@builtin(global_invocation_id) id: vec3u) {
  let row = id.x;
  if (row >= params.t) { return; }
  let base = row * params.d4;
  var total = vec4f();
  for (var i = 0u; i < params.d4; i++) { total = fma(weight[i] * dy[base + i], x[base + i], total); }
  let r = scale[row];
  let c = r * r * r / f32(params.d4 * 4u) * (total.x + total.y + total.z + total.w);
  for (var i = 0u; i < params.d4; i++) {
    dx[base + i] += weight[i] * dy[base + i] * r - x[base + i] * c;
  }
}

@group(0) @binding(2) var<storage, read> dy_rows: array<vec4f>;
@group(0) @binding(3) var<storage, read> row_scale: array<f32>;
@group(0) @binding(4) var<storage, read_write> partial: array<vec4f>;

@compute @workgroup_size(32)
fn rmsnorm_backward_weight(@builtin(global_invocation_id) id: vec3u) {
  let column = id.x;
  if (column >= params.d4) { return; }
  let first = id.y * 64u;
  let end = min(first + 64u, params.t);
  var total = vec4f();
  for (var row = first; row < end; row++) {
    total = fma(dy_rows[row * params.d4 + column], x[row * params.d4 + column] * row_scale[row], total);
  }
  partial[id.y * params.d4 + column] = total;
}
