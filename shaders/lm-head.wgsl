// The language-model head on a block of rows: logits [n, v] exist only for one block at a time (src/nn/lm-head.ts).
//
// head_logprob, head_logprob_wide | 1 logits [n, v] | 2 targets [n] | 3 logprob [n] | 4 entropy [n] | 5 lse [n]
//   logprob = z[target] - lse;  entropy H = lse - sum(p z)
// head_grad    | 1 logits [n, v], replaced by dL/dlogits | 2 targets | 3 lse | 4 entropy | 5 grad_logprob | 6 grad_entropy
//   dL/dz_i = gL (1[i = target] - p_i) - gH p_i (log p_i + H)
//   (from d logprob / dz and dH / dz_i = -p_i (log p_i + H))

struct Params { n: u32, v: u32, first: u32 } // first: where this block's rows start in the per-row arrays

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> logits: array<f32>;
@group(0) @binding(2) var<storage, read> targets: array<u32>;
@group(0) @binding(3) var<storage, read_write> logprob: array<f32>;
@group(0) @binding(4) var<storage, read_write> entropy: array<f32>;
@group(0) @binding(5) var<storage, read_write> lse: array<f32>;

@compute @workgroup_size(64)
fn head_logprob(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= params.n) { return; }
  let base = id.x * params.v;
  var top = -1e30;
  for (var i = 0u; i < params.v; i++) { top = max(top, logits[base + i]); }
  var mass = 0.0;
  var mean = 0.0;
  for (var i = 0u; i < params.v; i++) {
    let z = logits[base + i] - top;
    let e = exp(z);
    mass += e;
    mean = fma(e, z, mean);
  }
  let row = params.first + id.x;
  let level = log(mass);
  logprob[row] = logits[base + targets[row]] - top - level;
  entropy[row] = level - mean / mass;
  lse[row] = top + level;
}

// The same for vocabularies of real models: a workgroup a row, its lanes share the vocabulary.
const LANES = 64u;
var<workgroup> tops: array<f32, LANES>;
var<workgroup> masses: array<f32, LANES>;
var<workgroup> means: array<f32, LANES>;

@compute @workgroup_size(LANES)
fn head_logprob_wide(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let base = group.x * params.v;
  var lane_top = -1e30;
  for (var i = lane; i < params.v; i += LANES) { lane_top = max(lane_top, logits[base + i]); }
  tops[lane] = lane_top;
  workgroupBarrier();
  for (var s = LANES / 2u; s > 0u; s >>= 1u) {
    if (lane < s) { tops[lane] = max(tops[lane], tops[lane + s]); }
    workgroupBarrier();
  }
  let top = tops[0];
  var lane_mass = 0.0;
  var lane_mean = 0.0;
  for (var i = lane; i < params.v; i += LANES) {
    let z = logits[base + i] - top;
    let e = exp(z);
    lane_mass += e;
    lane_mean = fma(e, z, lane_mean);
  }
  masses[lane] = lane_mass;
  means[lane] = lane_mean;
  workgroupBarrier();
  for (var s = LANES / 2u; s > 0u; s >>= 1u) {
    if (lane < s) {
      masses[lane] += masses[lane + s];
      means[lane] += means[lane + s];
    }
    workgroupBarrier();
  }
  if (lane != 0u) { return; }
  let mass = masses[0];
  let level = log(mass);
  let row = params.first + group.x;
  logprob[row] = logits[base + targets[row]] - top - level;
  entropy[row] = level - means[0] / mass;
  lse[row] = top + level;
}

@group(0) @binding(1) var<storage, read_write> dlogits: array<f32>;
@group(0) @binding(3) var<storage, read> row_lse: array<f32>;
@group(0) @binding(4) var<storage, read> row_entropy: array<f32>;
@group(0) @binding(5) var<storage, read> grad_logprob: array<f32>;
@group(0) @binding(6) var<storage, read> grad_entropy: array<f32>;

@compute @workgroup_size(64)
fn head_grad(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  if (i >= params.v) { return; }
  let row = params.first + id.y;
  let at = id.y * params.v + i;
  let logp = dlogits[at] - row_lse[row];
  let p = exp(logp);
  var hit = 0.0;
  if (targets[row] == i) { hit = 1.0; }
  dlogits[at] = grad_logprob[row] * (hit - p) - grad_entropy[row] * p * (logp + row_entropy[row]);
}
