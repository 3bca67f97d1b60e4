// The sampler (sampler.wgsl) for vocabularies of real models: a workgroup draws for one row, its lanes share the vocabulary.
// Same buffers, same meaning, same random numbers; sums are added in another order.
//
// One thread a row would read 150,000 logits a hundred times over for a top-p draw.
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

const LANES = 64u;
var<workgroup> part: array<f32, LANES>;
var<workgroup> part_at: array<u32, LANES>;
var<workgroup> chosen: u32;

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

/// The sum of all lanes' values, the same for all.
fn total(lane: u32, value: f32) -> f32 {
  part[lane] = value;
  workgroupBarrier();
  for (var s = LANES / 2u; s > 0u; s >>= 1u) {
    if (lane < s) { part[lane] += part[lane + s]; }
    workgroupBarrier();
  }
  let result = part[0];
  workgroupBarrier();
  return result;
}

struct Largest { value: f32, at: u32 }

/// The largest of all lanes' values and where it is: the smallest place of equals.
fn largest(lane: u32, value: f32, at: u32) -> Largest {
  part[lane] = value;
  part_at[lane] = at;
  workgroupBarrier();
  for (var s = LANES / 2u; s > 0u; s >>= 1u) {
    if (lane < s) {
      let other = part[lane + s];
      if (other > part[lane] || (other == part[lane] && part_at[lane + s] < part_at[lane])) {
        part[lane] = other;
        part_at[lane] = part_at[lane + s];
      }
    }
    workgroupBarrier();
  }
  let result = Largest(part[0], part_at[0]);
  workgroupBarrier();
  return result;
}

@compute @workgroup_size(LANES)
fn sample_wide(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let row = group.x;
  let base = row * params.v;
  var lane_highest = -1e30; // of all
  var lane_top = -1e30; // of those that may be drawn
  var lane_best = 0u;
  for (var i = lane; i < params.v; i += LANES) {
    let z = logits[base + i];
    lane_highest = max(lane_highest, z);
    if (z > lane_top && allowed(row, i)) { lane_top = z; lane_best = i; }
  }
  let highest = largest(lane, lane_highest, 0u).value;
  let top_at = largest(lane, lane_top, lane_best);
  let top = top_at.value;
  let best = top_at.at;
  var lane_mass = 0.0; // at temperature 1
  for (var i = lane; i < params.v; i += LANES) { lane_mass += exp(logits[base + i] - highest); }
  let mass = total(lane, lane_mass);
  if (lane == 0u) { chosen = best; }
  workgroupBarrier();
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
        var count = 0.0; // exact: counts stay below 2^24
        for (var i = lane; i < params.v; i += LANES) {
          count += select(0.0, 1.0, logits[base + i] - top >= middle && allowed(row, i));
        }
        if (total(lane, count) >= f32(params.top_k)) { low = middle; } else { high = middle; }
      }
      threshold = max(threshold, low);
    }
    if (params.top_p < 1.0) {
      var all = 0.0;
      for (var i = lane; i < params.v; i += LANES) {
        let z = logits[base + i] - top;
        if (z >= threshold && allowed(row, i)) { all += exp(z * sharp); }
      }
      let wanted = params.top_p * total(lane, all);
      var low = -80.0;
      var high = 0.0;
      for (var round = 0u; round < 40u; round++) {
        let middle = 0.5 * (low + high);
        var kept = 0.0;
        for (var i = lane; i < params.v; i += LANES) {
          let z = logits[base + i] - top;
          if (z >= max(middle, threshold) && allowed(row, i)) { kept += exp(z * sharp); }
        }
        if (total(lane, kept) >= wanted) { low = middle; } else { high = middle; }
      }
      threshold = max(threshold, low);
    }
    // Each lane owns consecutive tokens, so that the cumulative distribution runs in the vocabulary's order.
    let per_lane = (params.v + LANES - 1u) / LANES;
    let first = min(params.v, lane * per_lane);
    let end = min(params.v, first + per_lane);
    var own = 0.0;
    for (var i = first; i < end; i++) {
      let z = logits[base + i] - top;
      if (z >= threshold && allowed(row, i)) { own += exp(z * sharp); }
    }
    let everything = total(lane, own);
    part[lane] = own;
    workgroupBarrier();
    var before = 0.0;
    for (var j = 0u; j < lane; j++) { before += part[j]; }
    let wanted = uniform01(params.seed, meta_rows[row].x, rows[row].y) * everything;
    workgroupBarrier();
    if (wanted >= before && wanted < before + own) {
      // When rounding leaves a rest at the end of these tokens, the last one that may be drawn is taken.
      var left = wanted - before;
      for (var i = first; i < end; i++) {
        let z = logits[base + i] - top;
        if (z >= threshold && allowed(row, i)) {
          chosen = i;
          left -= exp(z * sharp);
          if (left < 0.0) { break; }
        }
      }
    }
    workgroupBarrier();
  }
  if (lane != 0u) { return; }
  let out = params.step * params.n + row;
  if (meta_rows[row].z != 0u) {
    drawn[out] = vec2u(0xffffffffu, 0u);
    return;
  }
  let token = chosen;
  drawn[out] = vec2u(token, bitcast<u32>(logits[base + token] - highest - log(mass)));
  current[row] = token;
  rows[row].y += 1u;
  let stop = token == params.stop0 || token == params.stop1 || token == params.stop2 || token == params.stop3;
  if (stop || rows[row].y + 1u >= meta_rows[row].y) { meta_rows[row].z = 1u; }
}
