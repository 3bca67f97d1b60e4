/** @file IEEE half precision in plain arithmetic: `Float16Array` is too young for the browsers and the Node we support. */

const word = new Uint32Array(1);
const single = new Float32Array(word.buffer);

/** Every half by its 16 bits: model files hold millions of them, and a look-up beats any arithmetic. */
const values = new Float32Array(1 << 16);
for (let bits = 0; bits < 1 << 16; bits++) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) values[bits] = fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  else if (exponent === 0) values[bits] = sign * fraction * 2 ** -24;
  else values[bits] = sign * (1024 + fraction) * 2 ** (exponent - 25);
}

/** The number a half's 16 bits stand for (exact). */
export function halfToFloat(bits: number): number {
  return values[bits & 0xffff];
}

/** The 16 bits of the half nearest to a number (ties to even; too large becomes infinity). The number is taken as f32. */
export function floatToHalf(value: number): number {
  single[0] = value;
  const bits = word[0];
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  if (magnitude >= 0x477ff000) return sign | 0x7c00; // 65520 and more round to infinity
  if (magnitude >= 0x38800000) {
    // Normal: rebias the exponent, then add half a unit less one, plus the last kept bit: ties go to even.
    return sign | ((magnitude - 0x38000000 + 0xfff + ((magnitude >>> 13) & 1)) >>> 13);
  }
  // Subnormal: a multiple of 2^-24. Scaling is exact, and the platform's own rounding in f32 is what adding 2^23 uses.
  single[0] = Math.abs(value) * 2 ** 24 + 2 ** 23;
  return sign | (word[0] & 0x7fffff);
}

/** The largest half <= value: a minimum that no weight lies below. */
export function halfBelow(value: number): number {
  const bits = floatToHalf(value);
  return values[bits] > value ? neighbour(bits, -1) : bits;
}

/** The smallest half >= value: a scale whose codes reach the block's maximum. */
export function halfAbove(value: number): number {
  const bits = floatToHalf(value);
  return values[bits] < value ? neighbour(bits, 1) : bits;
}

function neighbour(bits: number, direction: 1 | -1): number {
  // Halves of one sign are ordered as their bits are; zero joins the two halves of the line.
  if ((bits & 0x7fff) === 0) return direction > 0 ? 0x0001 : 0x8001;
  const up = bits & 0x8000 ? -1 : 1;
  return (bits + up * direction) & 0xffff;
}

/** The number a bfloat16's 16 bits stand for (exact): the upper half of an f32. */
export function bfloatToFloat(bits: number): number {
  word[0] = bits << 16;
  return single[0];
}
