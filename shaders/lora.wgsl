// keep_blocks: the gradient of stacked LoRA B matrices, everything outside the diagonal blocks set to zero.
//
// q, k and v are one stacked product here, but three adapters (PEFT). Their A matrices are stacked, and B is block-diagonal:
// output row o of part p sees only columns [p rank, (p + 1) rank). Zero there at the start and zero gradient keep it so.
//
// | binding | buffer | shape                          |
// | 1       | part   | [rows] part of each output row |
// | 2       | db     | [rows, parts rank]             |

struct Params { rows: u32, columns: u32, rank: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> part: array<u32>;
@group(0) @binding(2) var<storage, read_write> db: array<f32>;

@compute @workgroup_size(64)
fn keep_blocks(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= params.rows * params.columns) { return; }
  if (id.x % params.columns / params.rank != part[id.x / params.columns]) { db[id.x] = 0.0; }
}
