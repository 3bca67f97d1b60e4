// quantised_backward: dx[m, k] (+)= alpha sum_i dy[m, first + i] w[i, k]; every weight is read and unpacked once for TILE
// rows of dy. The weights are frozen: this is the only gradient.
//
// | binding | buffer | shape                                          |
// | 1, 2    | codes, scales (quantised-block.wgsl)                    |
// | 3       | dy     | [m, outputs] as vec4; columns from `first` on  |
// | 4       | dx     | [m, columns] as vec4                           |
//
// Registers only: a thread owns 4 columns of weights and goes through 4 rows at a time, so that dy comes in vec4s. The sums
// run over i in order, as in matmul-nn.wgsl over the unpacked weights: the same bits.
// src/nn/quantised-products.ts puts `const TILE` before the text.

struct Params {
  m: u32,
  rows: u32, // rows of weights to multiply with
  blocks: u32, // columns / 32
  outputs: u32, // length of a row of dy
  first: u32, // column of dy of the first of these rows
  slab_row: u32, // where these rows start in the buffers
  add: u32,
  alpha: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(3) var<storage, read> dy: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> dx: array<vec4f>;

@compute @workgroup_size(32)
fn quantised_backward(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let column = group.x * 32u + local.x; // in quads
  let width = params.blocks * QUADS;
  let safe_column = min(column, width - 1u);
  let block = params.slab_row * params.blocks + safe_column / QUADS;
  let q = safe_column % QUADS;
  let token = group.y * TILE;
  var sum: array<vec4f, TILE>;
  var at: array<u32, TILE>;
  for (var i = 0u; i < TILE; i++) {
    at[i] = (min(token + i, params.m - 1u) * params.outputs + params.first) / 4u;
    sum[i] = vec4f();
  }
  for (var r = 0u; r < params.rows / 4u; r++) {
    let start = block + r * 4u * params.blocks;
    let w0 = quad_at(start, q);
    let w1 = quad_at(start + params.blocks, q);
    let w2 = quad_at(start + 2u * params.blocks, q);
    let w3 = quad_at(start + 3u * params.blocks, q);
    for (var i = 0u; i < TILE; i++) {
      let g = dy[at[i] + r];
      sum[i] = fma(vec4f(g.w), w3, fma(vec4f(g.z), w2, fma(vec4f(g.y), w1, fma(vec4f(g.x), w0, sum[i]))));
    }
  }
  if (column >= width) { return; }
  for (var i = 0u; i < TILE; i++) {
    if (token + i < params.m) {
      let to = (token + i) * width + column;
      dx[to] = select(params.alpha * sum[i], dx[to] + params.alpha * sum[i], params.add == 1u);
    }
  }
}
