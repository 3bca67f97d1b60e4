// How attention-*.wgsl read keys and values: as they are, from a batch's own rows of qkv or from a cache in f32. Put before
// them by src/nn/attention-kernels.ts; key-value-half.wgsl is the other form.
//
//   2 kv [slots, kv_width4] vec4

@group(0) @binding(2) var<storage, read> kv: array<vec4f>;

fn key_value(at: u32) -> vec4f { return kv[at]; }
