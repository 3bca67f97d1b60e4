// Rows of largest cosine similarity per query. No [queries, rows] matrix: every thread ranks one chunk of rows for one
// query, then one thread per query merges the chunks. A bank larger than one binding comes in blocks (src/rl/kernels/topk.ts).
//
// inverse_norms | 1 vectors [n, dimension] | 2 inverse_norm [n]: 1 / |v|, 0 for a zero vector
// topk_chunks   | 1 queries [q, dimension] | 2 rows [n, dimension], this block | 3 query_norm [q] | 4 row_norm [n]
//               | 5 allowed [q, ceil(n / 4)], one byte per row (read when use_allowed)
//               | 6 row_keys [n] | 7 query_keys [q]: equal, or 0xffffffff for "any" (read when use_keys)
//               | 8 best [q, all_chunks, k]: (bits of score, row + first_row), 0xffffffff = none
// topk_merge    | 1 best | 2 indices [q, k], -1 = none | 3 scores [q, k]
//
// Equal scores go to the smaller row index: rows are visited in order and only a strictly better one moves up.

const MAX_K = 16u;
const NONE = 0xffffffffu;
const ANY = 0xffffffffu;

struct Params {
  queries: u32,
  n: u32, // rows in this block (vectors, for inverse_norms)
  dimension: u32,
  k: u32,
  chunk_rows: u32, // a multiple of 4
  first_row: u32, // index of this block's row 0 in the bank
  first_chunk: u32, // index of this block's chunk 0 among all chunks
  all_chunks: u32,
  use_allowed: u32,
  use_keys: u32,
}

@group(0) @binding(0) var<uniform> params: Params;

@group(0) @binding(1) var<storage, read> vectors: array<f32>;
@group(0) @binding(2) var<storage, read_write> inverse_norm: array<f32>;

@compute @workgroup_size(64)
fn inverse_norms(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let row = id.y * groups.x * 64u + id.x;
  if (row >= params.n) { return; }
  var squares = 0.0;
  for (var i = 0u; i < params.dimension; i++) {
    let x = vectors[row * params.dimension + i];
    squares = fma(x, x, squares);
  }
  inverse_norm[row] = select(0.0, 1.0 / sqrt(squares), squares > 0.0);
}

@group(0) @binding(1) var<storage, read> queries: array<f32>;
@group(0) @binding(2) var<storage, read> rows: array<f32>;
@group(0) @binding(3) var<storage, read> query_norm: array<f32>;
@group(0) @binding(4) var<storage, read> row_norm: array<f32>;
@group(0) @binding(5) var<storage, read> allowed: array<u32>;
@group(0) @binding(6) var<storage, read> row_keys: array<u32>;
@group(0) @binding(7) var<storage, read> query_keys: array<u32>;
@group(0) @binding(8) var<storage, read_write> best: array<vec2u>;

fn may_answer(query: u32, row: u32) -> bool {
  if (params.use_allowed == 1u) {
    let word = allowed[query * ((params.n + 3u) / 4u) + row / 4u];
    if (((word >> (8u * (row % 4u))) & 0xffu) == 0u) { return false; }
  }
  if (params.use_keys == 1u) {
    let key = query_keys[query];
    if (key != ANY && key != row_keys[row]) { return false; }
  }
  return true;
}

@compute @workgroup_size(8, 8)
fn topk_chunks(@builtin(global_invocation_id) id: vec3u) {
  let query = id.x;
  let first = id.y * params.chunk_rows;
  if (query >= params.queries || first >= params.n) { return; }
  var score: array<f32, MAX_K>;
  var index: array<u32, MAX_K>;
  var held = 0u;
  let end = min(first + params.chunk_rows, params.n);
  for (var row = first; row < end; row++) {
    if (!may_answer(query, row)) { continue; }
    var dot = 0.0;
    for (var i = 0u; i < params.dimension; i++) {
      dot = fma(queries[query * params.dimension + i], rows[row * params.dimension + i], dot);
    }
    let s = dot * query_norm[query] * row_norm[row];
    if (held == params.k && s <= score[params.k - 1u]) { continue; }
    if (held < params.k) { held++; }
    var at = held - 1u;
    while (at > 0u && s > score[at - 1u]) {
      score[at] = score[at - 1u];
      index[at] = index[at - 1u];
      at--;
    }
    score[at] = s;
    index[at] = row;
  }
  let out = (query * params.all_chunks + params.first_chunk + id.y) * params.k;
  for (var j = 0u; j < params.k; j++) {
    best[out + j] = vec2u(0u, NONE);
    if (j < held) { best[out + j] = vec2u(bitcast<u32>(score[j]), index[j] + params.first_row); }
  }
}

@group(0) @binding(1) var<storage, read> candidates: array<vec2u>;
@group(0) @binding(2) var<storage, read_write> indices: array<i32>;
@group(0) @binding(3) var<storage, read_write> scores: array<f32>;

@compute @workgroup_size(64)
fn topk_merge(@builtin(global_invocation_id) id: vec3u) {
  let query = id.x;
  if (query >= params.queries) { return; }
  var score: array<f32, MAX_K>;
  var index: array<u32, MAX_K>;
  var held = 0u;
  for (var chunk = 0u; chunk < params.all_chunks; chunk++) {
    for (var j = 0u; j < params.k; j++) {
      let candidate = candidates[(query * params.all_chunks + chunk) * params.k + j];
      if (candidate.y == NONE) { break; }
      let s = bitcast<f32>(candidate.x);
      // A chunk is sorted: once one is too small, so are its followers.
      if (held == params.k && s <= score[params.k - 1u]) { break; }
      if (held < params.k) { held++; }
      var at = held - 1u;
      while (at > 0u && s > score[at - 1u]) {
        score[at] = score[at - 1u];
        index[at] = index[at - 1u];
        at--;
      }
      score[at] = s;
      index[at] = candidate.y;
    }
  }
  for (var j = 0u; j < params.k; j++) {
    indices[query * params.k + j] = -1;
    scores[query * params.k + j] = 0.0;
    if (j < held) {
      indices[query * params.k + j] = i32(index[j]);
      scores[query * params.k + j] = score[j];
    }
  }
}
