// How many multiply-adds a second can this adapter do? Eight independent chains of fused multiply-adds, unrolled so that
// loop bookkeeping does not count: the honest ceiling that every other kernel's speed is divided by.
//
// | binding | buffer | shape                                   |
// | 1       | y      | [threads]; keeps the work from vanishing |

struct Params { rounds: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;

fn step(x: vec4f) -> vec4f {
  let b = vec4f(0.999);
  let c = vec4f(0.001);
  return fma(fma(fma(fma(fma(fma(fma(fma(x, b, c), b, c), b, c), b, c), b, c), b, c), b, c), b, c);
}

@compute @workgroup_size(64)
fn peak(@builtin(global_invocation_id) id: vec3u) {
  let start = f32(id.x) * 0.001;
  var x0 = vec4f(start);
  var x1 = vec4f(start + 1.0);
  var x2 = vec4f(start + 2.0);
  var x3 = vec4f(start + 3.0);
  for (var i = 0u; i < params.rounds; i++) {
    x0 = step(x0);
    x1 = step(x1);
    x2 = step(x2);
    x3 = step(x3);
  }
  let sum = x0 + x1 + x2 + x3;
  y[id.x] = sum.x + sum.y + sum.z + sum.w;
}
