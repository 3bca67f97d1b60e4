// quantised_forward: y[m, first + i] (+)= alpha sum_k x[m, k] w[i, k]; every weight is read and unpacked once for TILE rows
// of x.
//
// | binding | buffer | shape                                      |
// | 1, 2    | codes, scales (quantised-block.wgsl)                |
// | 3       | x      | [m, columns] as vec4                       |
// | 4       | y      | [m, outputs]; columns from `first` on      |
//
// Registers only: a thread owns one row of weights, so the rows of x are the same for all threads of a workgroup. The sums
// run over k in order, as in matmul-nn.wgsl over the unpacked weights: the same bits.
// src/nn/quantised-products.ts puts `const TILE` before the text.

struct Params {
  m: u32, // rows of x
  rows: u32, // rows of weights to multiply with
  blocks: u32, // columns / 32
  outputs: u32, // length of a row of y
  first: u32, // column of y of the first of these rows
  slab_row: u32, // where these rows start in the buffers
  add: u32, // 1: y += alpha x w, 0: y = alpha x w
  alpha: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(3) var<storage, read> x: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(32)
fn quantised_forward(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let row = group.x * 32u + local.x;
  let safe_row = params.slab_row + min(row, params.rows - 1u);
  let token = group.y * TILE;
  var at: array<u32, TILE>; // where each row of x starts
  var sum: array<f32, TILE>;
  for (var i = 0u; i < TILE; i++) {
    at[i] = min(token + i, params.m - 1u) * params.blocks * QUADS;
    sum[i] = 0.0;
  }
  // One loop over words, its end unknown to the compiler: unrolled loads take software adapters minutes to compile.
  let block = safe_row * params.blocks;
  var scale = vec2f();
  for (var n = 0u; n < params.blocks * BITS; n++) {
    if (n % BITS == 0u) { scale = scale_of(block + n / BITS); }
    let word = codes[block * BITS + n];
    for (var q = 0u; q < QUADS_WORD; q++) {
      let w = quad_of(word >> (16u * q), scale);
      for (var i = 0u; i < TILE; i++) {
        let v = x[at[i] + n * QUADS_WORD + q];
        sum[i] = fma(v.w, w.w, fma(v.z, w.z, fma(v.y, w.y, fma(v.x, w.x, sum[i]))));
      }
    }
  }
  if (row >= params.rows) { return; }
  for (var i = 0u; i < TILE; i++) {
    if (token + i < params.m) {
      let to = (token + i) * params.outputs + params.first + row;
      y[to] = select(params.alpha * sum[i], y[to] + params.alpha * sum[i], params.add == 1u);
    }
  }
}
