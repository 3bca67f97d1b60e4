// add_bias: y[t, d] += bias[d]. Biases are frozen, and the gradient of y passes through unchanged.
//
// | binding | buffer | shape  |
// | 1       | bias   | [d]    |
// | 2       | y      | [t, d] |

struct Params { t: u32, d4: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> bias: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4f>;

@compute @workgroup_size(32)
fn add_bias(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= params.d4) { return; }
  y[id.y * params.d4 + id.x] += bias[id.x];
}
