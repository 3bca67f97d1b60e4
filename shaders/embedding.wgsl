// Rows in, rows out.
//
// gather_rows        | 1 table [v, d] | 2 rows [t] u32 | 3 y [t, d]: y[i] = table[rows[i]]
// scatter_rows       | 1 x [n, d] | 2 rows [n] u32 (distinct) | 3 y [t, d]: y[rows[i]] = x[i]; the caller clears y first
// embedding_backward | 1 dy [t, d] | 2 order [t] u32 | 3 starts [v + 1] u32 | 4 dtable [v, d] (added to)
//   order lists the token positions sorted by token id (the CPU knows the ids), so every table row is summed by one
//   thread in one order: no atomics, the same bits every time.

struct Params { t: u32, d4: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4f>;
@group(0) @binding(2) var<storage, read> rows: array<u32>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4f>;

@compute @workgroup_size(32)
fn gather_rows(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= params.d4) { return; }
  y[id.y * params.d4 + id.x] = x[rows[id.y] * params.d4 + id.x];
}

@compute @workgroup_size(32)
fn scatter_rows(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= params.d4) { return; }
  y[rows[id.y] * params.d4 + id.x] = x[id.y * params.d4 + id.x];
}

@group(0) @binding(3) var<storage, read> starts: array<u32>;
@group(0) @binding(4) var<storage, read_write> dtable: array<vec4f>;

@compute @workgroup_size(32)
fn embedding_backward(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= params.d4) { return; }
  var total = vec4f();
  for (var i = starts[id.y]; i < starts[id.y + 1u]; i++) { total += x[rows[i] * params.d4 + id.x]; }
  dtable[id.y * params.d4 + id.x] += total;
}
