// How much a sampled token counts when sampler and trainer disagree (TRL and verl, dreamgym.md 4 and 5):
//   ratio = exp(trainer - sampler) per token, or exp of the sum over the sequence's acting tokens, shared by all of them;
//   truncate: min(ratio, cap);  mask: ratio, and 0 where it exceeds the cap.
//
// | binding | buffer  | shape                                                             |
// | 1       | starts  | [sequences + 1]                                                   |
// | 2       | trainer | [n]: log-probability under the weights that are about to learn    |
// | 3       | sampler | [n]: log-probability as the sampler reported it                   |
// | 4       | mask    | [n]: 0 = an observation, which gets 0                             |
// | 5       | factor  | [n]                                                               |

struct Params {
  sequences: u32,
  per_sequence: u32, // 0: a ratio per token
  drop: u32, // 1: mask, 0: truncate
  cap: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> starts: array<u32>;
@group(0) @binding(2) var<storage, read> trainer: array<f32>;
@group(0) @binding(3) var<storage, read> sampler: array<f32>;
@group(0) @binding(4) var<storage, read> mask: array<u32>;
@group(0) @binding(5) var<storage, read_write> factor: array<f32>;

fn bounded(log_ratio: f32) -> f32 {
  let ratio = exp(clamp(log_ratio, -20.0, 20.0));
  if (params.drop == 1u) { return select(ratio, 0.0, ratio > params.cap); }
  return min(ratio, params.cap);
}

@compute @workgroup_size(64)
fn importance_correction(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= params.sequences) { return; }
  let first = starts[id.x];
  let end = starts[id.x + 1u];
  var sum = 0.0;
  if (params.per_sequence == 1u) {
    for (var i = first; i < end; i++) {
      if (mask[i] != 0u) { sum += trainer[i] - sampler[i]; }
    }
  }
  for (var i = first; i < end; i++) {
    factor[i] = 0.0;
    if (mask[i] == 0u) { continue; }
    if (params.per_sequence == 1u) { factor[i] = bounded(sum); } else { factor[i] = bounded(trainer[i] - sampler[i]); }
  }
}
