enable subgroups;

// matmul_nn: y[m, n] (+)= alpha a[m, k] b[k, n], all row-major; k and n multiples of 4.
//
// | binding | buffer | shape           |
// | 1       | a      | [m, k] as vec4  |
// | 2       | b      | [k, n] as vec4  |
// | 3       | y      | [m, n] as vec4  |
//
// Registers only: each thread owns 8 * BLOCKS rows x 4 columns. Barriers and workgroup tiles are what software adapters do worst
// and what large tiles cost Apple GPUs; the choice of variant is timed per device (src/nn/matmul.ts).
//
// Variant with subgroups: the values of 8 * BLOCKS rows are loaded once per subgroup, one row a lane and block, and passed
// around. Loads are the bottleneck of the plain variant (lavapipe, one core: plain 6, BLOCKS = 1 12, BLOCKS = 2 16 GFLOP/s;
// 4 gives 18 but takes 4 s more to compile there). Works for any subgroup of 8 lanes or more. src/nn/matmul.ts puts the
// constant BLOCKS behind the first line.

struct Params {
  m: u32, // rows of the result
  n4: u32, // columns of the result / 4
  k4: u32, // length of the sums / 4
  a4: u32, // from one row of a to the next / 4: k4, or more where a is a range of columns
  y4: u32, // from one row of y to the next / 4: n4, or more where y is a range of columns
  add: u32, // 1: y += alpha a b, 0: y = alpha a b
  alpha: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<vec4f>;
@group(0) @binding(2) var<storage, read> b: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4f>;

// One order of summation in every variant: whichever a device picks, the bits are the same.
fn accumulate(sum: vec4f, x: vec4f, b0: vec4f, b1: vec4f, b2: vec4f, b3: vec4f) -> vec4f {
  return fma(vec4f(x.w), b3, fma(vec4f(x.z), b2, fma(vec4f(x.y), b1, fma(vec4f(x.x), b0, sum))));
}

fn store(row: u32, column: u32, value: vec4f) {
  if (row >= params.m) { return; }
  let at = row * params.y4 + column;
  // No branch: this is written out for every row, and software adapters compile branches slowly.
  y[at] = select(params.alpha * value, y[at] + params.alpha * value, params.add == 1u);
}

@compute @workgroup_size(16)
fn matmul_nn(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u, @builtin(subgroup_invocation_id) lane: u32) {
  let row = group.y * 8u * BLOCKS;
  let column = group.x * 16u + local.x;
  let safe_column = min(column, params.n4 - 1u);
  var mine: array<u32, BLOCKS>;
  var sum: array<vec4f, 8u * BLOCKS>;
  for (var i = 0u; i < BLOCKS; i++) { mine[i] = min(row + i * 8u + (lane & 7u), params.m - 1u); }
  for (var i = 0u; i < 8u * BLOCKS; i++) { sum[i] = vec4f(); }
  for (var k = 0u; k < params.k4; k++) {
    let b0 = b[(k * 4u + 0u) * params.n4 + safe_column];
    let b1 = b[(k * 4u + 1u) * params.n4 + safe_column];
    let b2 = b[(k * 4u + 2u) * params.n4 + safe_column];
    let b3 = b[(k * 4u + 3u) * params.n4 + safe_column];
    for (var i = 0u; i < BLOCKS; i++) {
      let x = a[mine[i] * params.a4 + k];
      for (var r = 0u; r < 8u; r++) {
        sum[i * 8u + r] = accumulate(sum[i * 8u + r], subgroupShuffle(x, r), b0, b1, b2, b3);
      }
    }
  }
  if (column >= params.n4) { return; }
  for (var i = 0u; i < 8u * BLOCKS; i++) { store(row + i, column, sum[i]); }
}
