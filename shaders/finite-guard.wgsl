// A step is taken whole or not at all: where `watched` is not finite, `norm` becomes infinite, and adamw.wgsl skips.
//
// | binding | buffer  | shape                                                                        |
// | 1       | watched | [.]: bits of f32; the first number decides, e.g. the summed loss              |
// | 2       | norm    | [1]: bits of the squared gradient norm; left alone where all is well          |
//
// Bits, because comparisons with NaN and arithmetic on infinities may be optimised away.

struct Params { unused: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> watched: array<u32>;
@group(0) @binding(2) var<storage, read_write> norm: array<u32>;

@compute @workgroup_size(1)
fn finite_guard() {
  let infinity = 0x7f800000u + params.unused;
  if ((watched[0] & 0x7f800000u) == 0x7f800000u) { norm[0] = infinity; }
}
