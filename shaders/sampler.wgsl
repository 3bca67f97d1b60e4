// Draws the next token of every row from its logits, on the GPU: the token feeds the next step without a read-back.
// Temperature, top-k, top-p (nucleus, Holtzman et al. 2020), min-p (Nguyen et al. 2024) and a mask shape the draw; the log-probability that is kept is the
// one under the full softmax at temperature 1, because that is what the policy loss needs.
// Randomness is counter-based: (seed, stream key, position) alone decide the draw, whatever else is in the batch.
//
// | binding | buffer  | shape                                                                      |
// | 1       | logits  | [n, v]                                                                     |
// | 2       | rows    | [n] (cache base, position of the token the logits come from); advanced     |
// | 3       | meta    | [n] (stream key, first forbidden position, finished, -); finished is set   |
// | 4       | current | [n] token to feed next                                                     |
// | 5       | drawn   | [steps, n] (token, bits of log-probability); token 0xffffffff once finished |
// | 6       | mask    | [n, ceil(v / 32)] one bit a token, set = may be drawn (only with the masked prefix) |
//
// src/nn/sampler.ts puts `fn allowed(row: u32, i: u32) -> bool` in front.

struct Params {
  n: u32,
  v: u32,
  step: u32,
  seed: u32,
  top_k: u32, // 0 = off
  stop0: u32,
  stop1: u32,
  stop2: u32,
  stop3: u32,
  temperature: f32, // 0 = greedy
  top_p: f32, // 1 = off
  min_p: f32, // 0 = off
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> logits: array<f32>;
@group(0) @binding(2) var<storage, read_write> rows: array<vec2u>;
@group(0) @binding(3) var<storage, read_write> meta_rows: array<vec4u>;
@group(0) @binding(4) var<storage, read_write> current: array<u32>;
@group(0) @binding(5) var<storage, read_write> drawn: array<vec2u>;

// PCG hash (Jarzynski & Olano 2020).
fn pcg(x: u32) -> u32 {
  let state = x * 747796405u + 2891336453u;
  let word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
  return (word >> 22u) ^ word;
}

/// Uniform in [0, 1) with 24 bits.
fn uniform01(seed: u32, stream: u32, position: u32) -> f32 {
  return f32(pcg(pcg(pcg(seed) ^ stream) ^ position) >> 8u) / 16777216.0;
}

@compute @workgroup_size(32)
fn sample(@builtin(global_invocation_id) id: vec3u) {
  let row = id.x;
  if (row >= params.n) { return; }
  let out = params.step * params.n + row;
  if (meta_rows[row].z != 0u) {
    drawn[out] = vec2u(0xffffffffu, 0u);
    return;
  }
  let base = row * params.v;
  var highest = -1e30; // of all
  var top = -1e30; // of those that may be drawn
  var best = 0u;
  for (var i = 0u; i < params.v; i++) {
    let z = logits[base + i];
    highest = max(highest, z);
    if (z > top && allowed(row, i)) { top = z; best = i; }
  }
  var mass = 0.0; // at temperature 1
  for (var i = 0u; i < params.v; i++) { mass += exp(logits[base + i] - highest); }
  var token = best;
  if (params.temperature > 0.0) {
    let sharp = 1.0 / params.temperature;
    // Thresholds on z - top: keep what lies at or above. Bisection needs no sorting and always ends.
    var threshold = -1e29;
    if (params.min_p > 0.0) { threshold = params.temperature * log(params.min_p); }
    if (params.top_k > 0u && params.top_k < params.v) {
      var low = -80.0;
      var high = 0.0;
      for (var round = 0u; round < 40u; round++) {
        let middle = 0.5 * (low + high);
        var count = 0u;
        for (var i = 0u; i < params.v; i++) { count += u32(logits[base + i] - top >= middle && allowed(row, i)); }
        if (count >= params.top_k) { low = middle; } else { high = middle; }
      }
      threshold = max(threshold, low);
    }
    if (params.top_p < 1.0) {
      var all = 0.0;
      for (var i = 0u; i < params.v; i++) {
        let z = logits[base + i] - top;
        if (z >= threshold && allowed(row, i)) { all += exp(z * sharp); }
      }
      var low = -80.0;
      var high = 0.0;
      for (var round = 0u; round < 40u; round++) {
        let middle = 0.5 * (low + high);
        var kept = 0.0;
        for (var i = 0u; i < params.v; i++) {
          let z = logits[base + i] - top;
          if (z >= max(middle, threshold) && allowed(row, i)) { kept += exp(z * sharp); }
        }
        if (kept >= params.top_p * all) { low = middle; } else { high = middle; }
      }
      threshold = max(threshold, low);
    }
    var total = 0.0;
    for (var i = 0u; i < params.v; i++) {
      let z = logits[base + i] - top;
      if (z >= threshold && allowed(row, i)) { total += exp(z * sharp); }
    }
    var left = uniform01(params.seed, meta_rows[row].x, rows[row].y) * total;
    // When rounding leaves a rest at the end, the likeliest token stays chosen: the last one may be next to impossible.
    for (var i = 0u; i < params.v; i++) {
      let z = logits[base + i] - top;
      if (z >= threshold && allowed(row, i)) {
        left -= exp(z * sharp);
        if (left < 0.0) { token = i; break; }
      }
    }
  }
  drawn[out] = vec2u(token, bitcast<u32>(logits[base + token] - highest - log(mass)));
  current[row] = token;
  rows[row].y += 1u;
  let stop = token == params.stop0 || token == params.stop1 || token == params.stop2 || token == params.stop3;
  if (stop || rows[row].y + 1u >= meta_rows[row].y) { meta_rows[row].z = 1u; }
}
