// Rows of largest cosine similarity per query. No [queries, rows] matrix: every thread ranks one chunk of rows for one
// query, then one thread per query merges the chunks. A bank larger than one binding comes in blocks (src/rl/kernels/topk.ts).
//
// Vectors are read four numbers at a time: dimension is a multiple of 4 (the launcher pads with zeros).
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
  dimension4: u32, // dimension / 4
  k: u32,
  chunk_rows: u32, // a multiple of 4
  first_row: u32, // index of this block's row 0 in the bank
  first_chunk: u32, // index of this block's chunk 0 among all chunks
  all_chunks: u32,
  use_allowed: u32,
  use_keys: u32,
}

@group(0) @binding(0) var<uniform> params: Params;

@group(0) @binding(1) var<storage, read> vectors: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> inverse_norm: array<f32>;

fn sum4(v: vec4f) -> f32 { return (v.x + v.y) + (v.z + v.w); }

@compute @workgroup_size(64)
fn inverse_norms(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let row = id.y * groups.x * 64u + id.x;
  if (row >= params.n) { return; }
  var squares = vec4f();
  for (var i = 0u; i < params.dimension4; i++) {
    let x = vectors[row * params.dimension4 + i];
    squares = fma(x, x, squares);
  }
  let total = sum4(squares);
  inverse_norm[row] = select(0.0, 1.0 / sqrt(total), total > 0.0);
}

@group(0) @binding(1) var<storage, read> queries: array<vec4f>;
@group(0) @binding(2) var<storage, read> rows: array<vec4f>;
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

/// The winners so far, best first.
struct Ranking { held: u32, score: array<f32, MAX_K>, index: array<u32, MAX_K> }

fn consider(ranking: ptr<function, Ranking>, score: f32, index: u32) {
  if ((*ranking).held == params.k && score <= (*ranking).score[params.k - 1u]) { return; }
  if ((*ranking).held < params.k) { (*ranking).held++; }
  var at = (*ranking).held - 1u;
  while (at > 0u && score > (*ranking).score[at - 1u]) {
    (*ranking).score[at] = (*ranking).score[at - 1u];
    (*ranking).index[at] = (*ranking).index[at - 1u];
    at--;
  }
  (*ranking).score[at] = score;
  (*ranking).index[at] = index;
}

@compute @workgroup_size(8, 8)
fn topk_chunks(@builtin(global_invocation_id) id: vec3u) {
  let query = id.x;
  let first = id.y * params.chunk_rows;
  if (query >= params.queries || first >= params.n) { return; }
  var ranking: Ranking;
  let end = min(first + params.chunk_rows, params.n);
  let at = query * params.dimension4;
  // Four rows at a time share each load of the query.
  for (var row = first; row < end; row += 4u) {
    var may = vec4<bool>();
    for (var j = 0u; j < 4u; j++) { may[j] = row + j < end && may_answer(query, row + j); }
    if (!any(may)) { continue; }
    let row0 = row * params.dimension4;
    let row1 = min(row + 1u, end - 1u) * params.dimension4;
    let row2 = min(row + 2u, end - 1u) * params.dimension4;
    let row3 = min(row + 3u, end - 1u) * params.dimension4;
    var dot0 = vec4f();
    var dot1 = vec4f();
    var dot2 = vec4f();
    var dot3 = vec4f();
    for (var i = 0u; i < params.dimension4; i++) {
      let x = queries[at + i];
      dot0 = fma(x, rows[row0 + i], dot0);
      dot1 = fma(x, rows[row1 + i], dot1);
      dot2 = fma(x, rows[row2 + i], dot2);
      dot3 = fma(x, rows[row3 + i], dot3);
    }
    let dots = vec4f(sum4(dot0), sum4(dot1), sum4(dot2), sum4(dot3));
    for (var j = 0u; j < 4u; j++) {
      if (may[j]) { consider(&ranking, dots[j] * query_norm[query] * row_norm[row + j], row + j); }
    }
  }
  let out = (query * params.all_chunks + params.first_chunk + id.y) * params.k;
  for (var j = 0u; j < params.k; j++) {
    best[out + j] = vec2u(0u, NONE);
    if (j < ranking.held) {
      best[out + j] = vec2u(bitcast<u32>(ranking.score[j]), ranking.index[j] + params.first_row);
    }
  }
}

@group(0) @binding(1) var<storage, read> candidates: array<vec2u>;
@group(0) @binding(2) var<storage, read_write> indices: array<i32>;
@group(0) @binding(3) var<storage, read_write> scores: array<f32>;

@compute @workgroup_size(64)
fn topk_merge(@builtin(global_invocation_id) id: vec3u) {
  let query = id.x;
  if (query >= params.queries) { return; }
  var ranking: Ranking;
  for (var chunk = 0u; chunk < params.all_chunks; chunk++) {
    for (var j = 0u; j < params.k; j++) {
      let candidate = candidates[(query * params.all_chunks + chunk) * params.k + j];
      if (candidate.y == NONE) { break; }
      consider(&ranking, bitcast<f32>(candidate.x), candidate.y);
    }
  }
  for (var j = 0u; j < params.k; j++) {
    indices[query * params.k + j] = -1;
    scores[query * params.k + j] = 0.0;
    if (j < ranking.held) {
      indices[query * params.k + j] = i32(ranking.index[j]);
      scores[query * params.k + j] = ranking.score[j];
    }
  }
}
