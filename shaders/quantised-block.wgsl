// How a quantised weight is read; put before every quantised-*.wgsl, after two constants that name the form:
//   const BITS = 4u or 8u;        q4 or q8: a block of 32 weights is BITS words of codes
//   const SINGLE = false or true; a block's scale and minimum are two halves in one word, or two f32
// (src/models/weights.ts has the table of both forms.) w = code * scale + minimum, the same expression in every kernel that
// reads a weight: the same bits.
//
// | binding | buffer | shape                                       |
// | 1       | codes  | [rows, columns / 32 * BITS] words           |
// | 2       | scales | [rows, columns / 32] words, SINGLE: 2 words |

const QUADS = 8u; // 4 consecutive weights each, in a block
const QUADS_WORD = 8u / BITS; // in a word of codes
const MASK = vec4u((1u << BITS) - 1u);

@group(0) @binding(1) var<storage, read> codes: array<u32>;
@group(0) @binding(2) var<storage, read> scales: array<u32>;

// (scale, minimum) of a block.
fn scale_of(block: u32) -> vec2f {
  if (SINGLE) { return vec2f(bitcast<f32>(scales[2u * block]), bitcast<f32>(scales[2u * block + 1u])); }
  return unpack2x16float(scales[block]);
}

// Four weights from the low 4 * BITS bits.
fn quad_of(bits: u32, scale: vec2f) -> vec4f {
  return fma(vec4f((vec4u(bits) >> vec4u(0u, BITS, 2u * BITS, 3u * BITS)) & MASK), vec4f(scale.x), vec4f(scale.y));
}

// Quad `q` of a block, for a thread that wants one quad of many blocks.
fn quad_at(block: u32, q: u32) -> vec4f {
  return quad_of(codes[block * BITS + q / QUADS_WORD] >> (q % QUADS_WORD * 16u), scale_of(block));
}
