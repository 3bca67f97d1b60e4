// transpose: y[n, m] = transpose(x[m, n]). Weights are stored as [out, in]; the forward product wants [in, out].
//
// | binding | buffer | shape  |
// | 1       | x      | [m, n] |
// | 2       | y      | [n, m] |

struct Params { m: u32, n: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(64)
fn transpose(@builtin(global_invocation_id) id: vec3u) {
  let row = id.y; // of y
  let column = id.x;
  if (column >= params.m) { return; }
  y[row * params.m + column] = x[column * params.n + row];
}
