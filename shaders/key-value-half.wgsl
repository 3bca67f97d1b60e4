// key-value.wgsl for a cache in half precision, two halves in a word (written by kv_store_half). Packing and unpacking are
// WGSL's own and need no optional feature, and a load of a word brings two numbers on devices without 16-bit storage too.
//
//   2 kv [slots, kv_width4] of 2 words

@group(0) @binding(2) var<storage, read> kv: array<vec2u>;

fn key_value(at: u32) -> vec4f {
  let words = kv[at];
  return vec4f(unpack2x16float(words.x), unpack2x16float(words.y));
}
