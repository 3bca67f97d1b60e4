// quantised_backward with subgroups of 8 lanes or more; parameters, bindings and bits of quantised-backward.wgsl.
//
// As quantised-forward-subgroup.wgsl: few loads. A thread owns 8 columns of weights (a word of q4, two of q8) and TILE rows of
// dx; dy is loaded once per 8 lanes, a row each, and passed around.
// src/nn/quantised-products.ts puts `enable subgroups;` and TILE (a multiple of 8) before the text.

struct Params {
  m: u32,
  rows: u32,
  blocks: u32,
  outputs: u32,
  first: u32,
  slab_row: u32,
  add: u32,
  alpha: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(3) var<storage, read> dy: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> dx: array<vec4f>;

const LOADS = TILE / 8u;

// Weights 8 p .. 8 p + 7 of a block.
fn pair_at(block: u32, p: u32) -> array<vec4f, 2> {
  let scale = scale_of(block);
  if (BITS == 4u) {
    let word = codes[block * BITS + p];
    return array(quad_of(word, scale), quad_of(word >> 16u, scale));
  }
  let at = block * BITS + 2u * p;
  return array(quad_of(codes[at], scale), quad_of(codes[at + 1u], scale));
}

fn accumulate(sum: vec4f, g: vec4f, w0: vec4f, w1: vec4f, w2: vec4f, w3: vec4f) -> vec4f {
  return fma(vec4f(g.w), w3, fma(vec4f(g.z), w2, fma(vec4f(g.y), w1, fma(vec4f(g.x), w0, sum))));
}

@compute @workgroup_size(8)
fn quantised_backward(
  @builtin(workgroup_id) group: vec3u,
  @builtin(local_invocation_id) local: vec3u,
  @builtin(subgroup_invocation_id) lane: u32,
) {
  let pair = group.x * 8u + local.x;
  let pairs = params.blocks * 4u; // of quads, in a row
  let safe_pair = min(pair, pairs - 1u);
  let block = params.slab_row * params.blocks + safe_pair / 4u;
  let p = safe_pair % 4u;
  let token = group.y * TILE;
  var mine: array<u32, LOADS>;
  var sum: array<vec4f, 2u * TILE>;
  for (var i = 0u; i < LOADS; i++) {
    mine[i] = (min(token + i * 8u + (lane & 7u), params.m - 1u) * params.outputs + params.first) / 4u;
  }
  for (var r = 0u; r < params.rows / 4u; r++) {
    let start = block + r * 4u * params.blocks;
    let w0 = pair_at(start, p);
    let w1 = pair_at(start + params.blocks, p);
    let w2 = pair_at(start + 2u * params.blocks, p);
    let w3 = pair_at(start + 3u * params.blocks, p);
    for (var i = 0u; i < LOADS; i++) {
      let v = dy[mine[i] + r];
      for (var lane_row = 0u; lane_row < 8u; lane_row++) {
        let g = subgroupShuffle(v, lane_row);
        let at = 2u * (i * 8u + lane_row);
        sum[at] = accumulate(sum[at], g, w0[0], w1[0], w2[0], w3[0]);
        sum[at + 1u] = accumulate(sum[at + 1u], g, w0[1], w1[1], w2[1], w3[1]);
      }
    }
  }
  for (var i = 0u; i < TILE; i++) {
    if (pair < pairs && token + i < params.m) {
      let to = 2u * ((token + i) * pairs + pair);
      dx[to] = select(params.alpha * sum[2u * i], dx[to] + params.alpha * sum[2u * i], params.add == 1u);
      dx[to + 1u] = select(params.alpha * sum[2u * i + 1u], dx[to + 1u] + params.alpha * sum[2u * i + 1u], params.add == 1u);
    }
  }
}
