// Rotary position embedding (Su et al. 2021), half-split as in Llama: pairs (i, i + d/2) of each query and key head.
// In place on the packed projection qkv [t, heads_total * d]; only the first `heads` heads (queries, then keys) turn.
// direction +1 forward; -1 is the gradient (the rotation's transpose).
//
// | binding | buffer    | shape                         |
// | 1       | rows      | [t] (cache base, position)    |
// | 2       | qkv       | [t, width], rotated in place  |
// | 3       | table     | [positions, half] (cos, sin)  | rope_table only: long contexts and scaled frequencies
//
// WGSL promises little of sin and cos far from zero, so positions beyond the first thousand read a table made in double
// precision (src/nn/rope.ts).

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
  turn(row, head, i, cos(angle), sin(angle) * params.direction);
}

@group(0) @binding(3) var<storage, read> table: array<vec2f>;

@compute @workgroup_size(64)
fn rope_table(@builtin(global_invocation_id) id: vec3u) {
  let row = id.y;
  let head = id.x / params.half;
  let i = id.x % params.half;
  if (head >= params.heads) { return; }
  let entry = table[rows[row].y * params.half + i];
  turn(row, head, i, entry.x, entry.y * params.direction);
}

fn turn(row: u32, head: u32, i: u32, c: f32, s: f32) {
  let at = row * params.width + head * params.half * 2u + i;
  let a = qkv[at];
  let b = qkv[at + params.half];
  qkv[at] = a * c - b * s;
  qkv[at + params.half] = b * c + a * s;
}
