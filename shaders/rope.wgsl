// Rotary position embedding (Su et al. 2021), half-split as in Llama: pairs (i, i + d/2) of each query and key head.
// In place on the packed projection qkv [t, heads_total * d]; only the first `heads` heads (queries, then keys) turn.
// direction +1 forward; -1 is the gradient (the rotation's transpose).
//
// | binding | buffer    | shape                         |
// | 1       | rows      | [t] (cache base, position)    |
// | 2       | qkv       | [t, width], rotated in place  |

struct Params { t: u32, heads: u32, half: u32, width: u32, theta: f32, direction: f32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> rows: array<vec2u>;
@group(0) @binding(2) var<storage, read_write> qkv: array<f32>;

@compute @workgroup_size(64)
fn rope(@builtin(global_invocation_id) id: vec3u) {
  let row = id.y;
  let head = id.x / params.half;
  let i = id.x % params.half;
  if (head >= params.heads) { return; }
  let angle = f32(rows[row].y) * exp(-log(params.theta) * f32(i) / f32(params.half));
  let c = cos(angle);
  let s = sin(angle) * params.direction;
  let at = row * params.width + head * params.half * 2u + i;
  let a = qkv[at];
  let b = qkv[at + params.half];
  qkv[at] = a * c - b * s;
  qkv[at + params.half] = b * c + a * s;
}
