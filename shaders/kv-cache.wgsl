// kv_store: copies the rotated keys and the values of the newest tokens into their rows of the cache.
//
// | binding | buffer | shape                                            |
// | 1       | qkv    | [t, q_width4] vec4; keys and values contiguous from k_offset4 |
// | 2       | rows   | [t] (base, position): the token's slot is base + position     |
// | 3       | cache  | [slots, kv_width4] vec4: keys, then values       |

struct Params { t: u32, q_width4: u32, kv_width4: u32, k_offset4: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> qkv: array<vec4f>;
@group(0) @binding(2) var<storage, read> rows: array<vec2u>;
@group(0) @binding(3) var<storage, read_write> cache: array<vec4f>;

@compute @workgroup_size(32)
fn kv_store(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= params.kv_width4) { return; }
  let row = rows[id.y];
  cache[(row.x + row.y) * params.kv_width4 + id.x] = qkv[id.y * params.q_width4 + params.k_offset4 + id.x];
}
