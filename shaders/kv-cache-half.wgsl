// kv_store_half: kv-cache.wgsl into a cache in half precision: two halves in a word, the first in the low bits.
//
// | binding | buffer | shape                                            |
// | 1       | qkv    | [t, q_width4] vec4; keys and values contiguous from k_offset4 |
// | 2       | rows   | [t] (base, position): the token's slot is base + position     |
// | 3       | cache  | [slots, kv_width4] of 2 words: keys, then values |
//
// What is too large for a half becomes the largest: WGSL leaves open what packing makes of it, and an infinity in the cache
// would be not-a-number in every later token.

struct Params { t: u32, q_width4: u32, kv_width4: u32, k_offset4: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> qkv: array<vec4f>;
@group(0) @binding(2) var<storage, read> rows: array<vec2u>;
@group(0) @binding(3) var<storage, read_write> cache: array<vec2u>;

const LARGEST = 65504.0;

@compute @workgroup_size(32)
fn kv_store_half(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= params.kv_width4) { return; }
  let row = rows[id.y];
  let v = clamp(qkv[id.y * params.q_width4 + params.k_offset4 + id.x], vec4f(-LARGEST), vec4f(LARGEST));
  cache[(row.x + row.y) * params.kv_width4 + id.x] = vec2u(pack2x16float(v.xy), pack2x16float(v.zw));
}
