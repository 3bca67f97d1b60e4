// The log-ratio of a whole sample, for sequence-level importance (GSPO, Zheng et al. 2025):
//   s = sum over its tokens of (logprob - old) / tokens,  the same for each of them.
//
// | binding | buffer           | shape                                                              |
// | 1       | starts           | [samples + 1]: sample j is the tokens starts[j] .. starts[j + 1]   |
// | 2       | logprob          | [n]                                                                |
// | 3       | old_logprob      | [n]                                                                |
// | 4       | weights          | [n]: tokens of weight 0 take no part and get 0                     |
// | 5       | sample_log_ratio | [n]                                                                |

struct Params { samples: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> starts: array<u32>;
@group(0) @binding(2) var<storage, read> logprob: array<f32>;
@group(0) @binding(3) var<storage, read> old_logprob: array<f32>;
@group(0) @binding(4) var<storage, read> weights: array<f32>;
@group(0) @binding(5) var<storage, read_write> sample_log_ratio: array<f32>;

@compute @workgroup_size(64)
fn sequence_ratio(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= params.samples) { return; }
  let first = starts[id.x];
  let end = starts[id.x + 1u];
  var sum = 0.0;
  var count = 0.0;
  for (var i = first; i < end; i++) {
    if (weights[i] != 0.0) {
      sum += logprob[i] - old_logprob[i];
      count += 1.0;
    }
  }
  let mean = sum / max(count, 1.0);
  for (var i = first; i < end; i++) { sample_log_ratio[i] = select(0.0, mean, weights[i] != 0.0); }
}
