// Quantised rows as plain f32: for products with many rows (src/nn/quantised-products.ts) and for embeddings.
//
// | binding | buffer | shape                                                             |
// | 1, 2    | codes, scales (quantised-block.wgsl)                                       |
// | 3       | y      | quantised_unpack [count, columns], quantised_gather [t, columns], as vec4;
// |         |        | quantised_unpack_transposed [columns, count] as vec4              |
// | 4       | tokens | quantised_gather: [t] rows of the whole matrix                    |

struct Params {
  first: u32, // unpack: first row in the slab; gather: the slab's first row in the matrix
  count: u32, // unpack: rows; gather: rows of the slab
  blocks: u32, // columns / 32
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(3) var<storage, read_write> y: array<vec4f>;
@group(0) @binding(4) var<storage, read> tokens: array<u32>;

// A thread per quad; y of the dispatch counts rows.
@compute @workgroup_size(32)
fn quantised_unpack(@builtin(global_invocation_id) id: vec3u) {
  let width = params.blocks * QUADS;
  if (id.x >= width) { return; }
  y[id.y * width + id.x] = quad_at((params.first + id.y) * params.blocks + id.x / QUADS, id.x % QUADS);
}

// A thread per 4 rows and one quad: 16 weights, turned in registers. Neighbours own neighbouring rows and write side by side.
@compute @workgroup_size(32)
fn quantised_unpack_transposed(@builtin(global_invocation_id) id: vec3u) {
  let rows4 = params.count / 4u;
  if (id.x >= rows4) { return; }
  let block = (params.first + id.x * 4u) * params.blocks + id.y / QUADS;
  let q = id.y % QUADS;
  let w0 = quad_at(block, q);
  let w1 = quad_at(block + params.blocks, q);
  let w2 = quad_at(block + 2u * params.blocks, q);
  let w3 = quad_at(block + 3u * params.blocks, q);
  let to = id.y * 4u * rows4 + id.x;
  y[to] = vec4f(w0.x, w1.x, w2.x, w3.x);
  y[to + rows4] = vec4f(w0.y, w1.y, w2.y, w3.y);
  y[to + 2u * rows4] = vec4f(w0.z, w1.z, w2.z, w3.z);
  y[to + 3u * rows4] = vec4f(w0.w, w1.w, w2.w, w3.w);
}

// Rows of other slabs are left to the dispatches of those.
@compute @workgroup_size(32)
fn quantised_gather(@builtin(global_invocation_id) id: vec3u) {
  let width = params.blocks * QUADS;
  let row = tokens[id.y] - params.first; // wraps around below the slab
  if (id.x >= width || row >= params.count) { return; }
  y[id.y * width + id.x] = quad_at(row * params.blocks + id.x / QUADS, id.x % QUADS);
}
