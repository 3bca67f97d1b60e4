enable subgroups;

// attention_decode: attention.wgsl's forward for single tokens far from each other (decoding), with subgroups of 8 lanes or
// more. A workgroup of 8 lanes owns one token and one key-value head with the GROUP query heads that share it. For the scores
// a lane owns one of 8 keys, for the result every eighth vec4 of the values; queries are loaded once, by all lanes together,
// and passed around. The order of every sum is the plain kernel's, so the bits are too.
//
//   1 q [t, q_width4] vec4 | 2 kv (key-value*.wgsl) | 3 rows [t] (base, position) | 4 o [t, kv_heads * GROUP * HEAD4] vec4
//   5 lse [t, kv_heads * GROUP]
//
// Measured on lavapipe, 2 cores, SmolLM2-135M's heads, 16 streams: 440 -> 185 microseconds at 12 keys, 2,312 -> 942 at 100
// and 744 with a cache in half precision.
//
// Constants HEAD4, GROUP and key_value() are put behind the first line by src/nn/attention-kernels.ts.

struct Params {
  kv_heads: u32,
  q_width4: u32,
  kv_width4: u32,
  k_offset4: u32,
  v_offset4: u32,
  scale: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> q: array<vec4f>;
@group(0) @binding(3) var<storage, read> rows: array<vec2u>;
@group(0) @binding(4) var<storage, read_write> o: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> lse: array<f32>;

const LANES = 8u;
const QUERIES = (GROUP * HEAD4 + LANES - 1u) / LANES; // vec4s of queries a lane loads
const VALUES = (HEAD4 + LANES - 1u) / LANES; // vec4s of a value a lane owns

fn sum4(v: vec4f) -> f32 { return (v.x + v.y) + (v.z + v.w); }

@compute @workgroup_size(8)
fn attention_decode(@builtin(workgroup_id) group: vec3u, @builtin(subgroup_invocation_id) lane: u32) {
  let token = group.x;
  let head = group.y;
  let row = rows[token];
  let keys = row.y + 1u;
  var query: array<vec4f, QUERIES>;
  var value: array<vec4f, GROUP * VALUES>;
  var top: array<f32, GROUP>;
  var mass: array<f32, GROUP>;
  let at = token * params.q_width4 + head * GROUP * HEAD4;
  for (var i = 0u; i < QUERIES; i++) { query[i] = q[at + min(i * LANES + lane, GROUP * HEAD4 - 1u)] * params.scale; }
  for (var i = 0u; i < GROUP * VALUES; i++) { value[i] = vec4f(); }
  for (var g = 0u; g < GROUP; g++) { top[g] = -1e30; mass[g] = 0.0; }
  for (var j0 = 0u; j0 < keys; j0 += LANES) {
    let key_at = (row.x + min(j0 + lane, keys - 1u)) * params.kv_width4 + head * HEAD4 + params.k_offset4;
    var dots = array<vec4f, GROUP>();
    for (var i = 0u; i < HEAD4; i++) {
      let key = key_value(key_at + i);
      for (var g = 0u; g < GROUP; g++) {
        dots[g] = fma(subgroupShuffle(query[(g * HEAD4 + i) / LANES], (g * HEAD4 + i) % LANES), key, dots[g]);
      }
    }
    var score = array<f32, GROUP>();
    for (var g = 0u; g < GROUP; g++) { score[g] = sum4(dots[g]); }
    let value_at = (row.x + j0) * params.kv_width4 + head * HEAD4 + params.v_offset4;
    let count = min(LANES, keys - j0);
    for (var n = 0u; n < count; n++) {
      var v: array<vec4f, VALUES>;
      for (var i = 0u; i < VALUES; i++) {
        v[i] = key_value(value_at + n * params.kv_width4 + min(i * LANES + lane, HEAD4 - 1u));
      }
      for (var g = 0u; g < GROUP; g++) {
        let s = subgroupShuffle(score[g], n);
        let e = exp(-abs(s - top[g]));
        let keep = select(1.0, e, s > top[g]);
        let p = select(e, 1.0, s > top[g]);
        top[g] = max(top[g], s);
        mass[g] = mass[g] * keep + p;
        for (var i = 0u; i < VALUES; i++) {
          value[g * VALUES + i] = fma(value[g * VALUES + i], vec4f(keep), v[i] * p);
        }
      }
    }
  }
  let out = (token * params.kv_heads + head) * GROUP * HEAD4;
  for (var g = 0u; g < GROUP; g++) {
    if (lane == 0u) { lse[(token * params.kv_heads + head) * GROUP + g] = top[g] + log(mass[g]); }
    for (var i = 0u; i < VALUES; i++) {
      if (i * LANES + lane < HEAD4) { o[out + g * HEAD4 + i * LANES + lane] = value[g * VALUES + i] / mass[g]; }
    }
  }
}
