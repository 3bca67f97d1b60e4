// Deterministic reductions: fixed order, no atomics.
//
// sum_rows      | 1 x [rows, n] | 2 y [n] (added to): y[i] += sum over rows of x[row, i], in row order
// sum_squares   | 1 x [n] | 2 partial [groups]: each of `groups` threads adds the squares of one contiguous piece
// total         | 1 partial [n] | 2 y [1] (added to): one thread, in order

struct Params { rows: u32, n: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(64)
fn sum_rows(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= params.n) { return; }
  var total = 0.0;
  for (var row = 0u; row < params.rows; row++) { total += x[row * params.n + id.x]; }
  y[id.x] += total;
}

@compute @workgroup_size(64)
fn sum_squares(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= params.rows) { return; }
  let piece = (params.n + params.rows - 1u) / params.rows;
  let first = id.x * piece;
  let end = min(first + piece, params.n);
  var total = 0.0;
  for (var i = first; i < end; i++) { total = fma(x[i], x[i], total); }
  y[id.x] = total;
}

@compute @workgroup_size(1)
fn total() {
  var sum = 0.0;
  for (var i = 0u; i < params.n; i++) { sum += x[i]; }
  y[0] += sum;
}
