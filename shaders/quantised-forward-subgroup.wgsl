// quantised_forward with subgroups of 8 lanes or more; parameters, bindings and bits of quantised-forward.wgsl, with y as
// vec4 (rows of weights are a multiple of 4).
//
// What a software adapter does slowest is a load whose address it cannot prove uniform: 30 cycles, as long as 30 fused
// multiply-adds (lavapipe). A word of codes brings 8 weights (q4), and x is loaded once per 8 lanes and passed around. A thread
// owns 4 * ROWS4 rows of weights as lanes of vec4s and TILE rows of x. Measured on lavapipe, 2 cores, q4, 768 x 768: 8 GFLOP/s
// with TILE = 1 (plain 3), 35 with 8, 45 with 16 (plain 2.5): half the adapter's peak. ROWS4 = 2 with TILE = 16 is a little
// faster and takes 3 times as long to compile.
// src/nn/quantised-products.ts puts `enable subgroups;`, TILE (1, 2, 4 or a multiple of 8) and ROWS4 before the text.

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
@group(0) @binding(3) var<storage, read> x: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> y: array<vec4f>;

const LANES = 8u;
const LOADED = min(TILE, 8u); // rows of x that one load of 8 lanes brings,
const LOADED_QUADS = 8u / LOADED; // and quads of each
const LOADS = TILE / LOADED;
const STEP = max(LOADED_QUADS, QUADS_WORD); // quads of a round: whole loads and whole words

@compute @workgroup_size(8)
fn quantised_forward(
  @builtin(workgroup_id) group: vec3u,
  @builtin(local_invocation_id) local: vec3u,
  @builtin(subgroup_invocation_id) lane: u32,
) {
  let token = group.y * TILE;
  let rows4 = params.rows / 4u;
  var mine: array<u32, LOADS>;
  var row: array<u32, ROWS4>;
  var sum: array<vec4f, TILE * ROWS4>;
  var scale: array<vec4f, ROWS4>;
  var minimum: array<vec4f, ROWS4>;
  for (var i = 0u; i < LOADS; i++) {
    let source = min(token + i * LOADED + lane % LOADED, params.m - 1u);
    mine[i] = source * params.blocks * QUADS + (lane & 7u) / LOADED;
  }
  for (var j = 0u; j < ROWS4; j++) {
    row[j] = (params.slab_row + 4u * min((group.x * ROWS4 + j) * LANES + local.x, rows4 - 1u)) * params.blocks;
  }
  for (var b = 0u; b < params.blocks; b++) {
    for (var j = 0u; j < ROWS4; j++) {
      let s0 = scale_of(row[j] + b);
      let s1 = scale_of(row[j] + b + params.blocks);
      let s2 = scale_of(row[j] + b + 2u * params.blocks);
      let s3 = scale_of(row[j] + b + 3u * params.blocks);
      scale[j] = vec4f(s0.x, s1.x, s2.x, s3.x);
      minimum[j] = vec4f(s0.y, s1.y, s2.y, s3.y);
    }
    for (var s = 0u; s < QUADS; s += STEP) {
      var v: array<vec4f, LOADS>;
      for (var n = 0u; n < STEP / QUADS_WORD; n++) {
        var word: array<vec4u, ROWS4>;
        for (var j = 0u; j < ROWS4; j++) {
          let at = (row[j] + b) * BITS + s / QUADS_WORD + n;
          let next = params.blocks * BITS;
          word[j] = vec4u(codes[at], codes[at + next], codes[at + 2u * next], codes[at + 3u * next]);
        }
        for (var q = 0u; q < QUADS_WORD; q++) {
          let t = n * QUADS_WORD + q; // quad of this round
          if (t % LOADED_QUADS == 0u) {
            for (var i = 0u; i < LOADS; i++) { v[i] = x[mine[i] + b * QUADS + s + t]; }
          }
          for (var j = 0u; j < ROWS4; j++) {
            let w0 = fma(vec4f((word[j] >> vec4u((4u * q + 0u) * BITS)) & MASK), scale[j], minimum[j]);
            let w1 = fma(vec4f((word[j] >> vec4u((4u * q + 1u) * BITS)) & MASK), scale[j], minimum[j]);
            let w2 = fma(vec4f((word[j] >> vec4u((4u * q + 2u) * BITS)) & MASK), scale[j], minimum[j]);
            let w3 = fma(vec4f((word[j] >> vec4u((4u * q + 3u) * BITS)) & MASK), scale[j], minimum[j]);
            for (var i = 0u; i < TILE; i++) {
              let u = subgroupShuffle(v[i / LOADED], (t % LOADED_QUADS) * LOADED + i % LOADED);
              let at = i * ROWS4 + j;
              sum[at] = fma(vec4f(u.w), w3, fma(vec4f(u.z), w2, fma(vec4f(u.y), w1, fma(vec4f(u.x), w0, sum[at]))));
            }
          }
        }
      }
    }
  }
  for (var j = 0u; j < ROWS4; j++) {
    let column = (group.x * ROWS4 + j) * LANES + local.x;
    for (var i = 0u; i < TILE; i++) {
      if (column < rows4 && token + i < params.m) {
        let to = ((token + i) * params.outputs + params.first) / 4u + column;
        y[to] = select(params.alpha * sum[i * ROWS4 + j], y[to] + params.alpha * sum[i * ROWS4 + j], params.add == 1u);
      }
    }
  }
}
