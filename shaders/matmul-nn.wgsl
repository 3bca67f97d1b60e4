// matmul_nn: y[m, n] (+)= alpha a[m, k] b[k, n], all row-major; k and n multiples of 4.
//
// | binding | buffer | shape           |
// | 1       | a      | [m, k] as vec4  |
// | 2       | b      | [k, n] as vec4  |
// | 3       | y      | [m, n] as vec4  |
//
// Registers only: each thread owns 8 rows x 4 columns. Barriers and workgroup tiles are what software adapters do worst
// and what large tiles cost Apple GPUs; the choice of variant is timed per device (src/nn/matmul.ts).

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
  if (params.add == 1u) { y[at] += params.alpha * value; } else { y[at] = params.alpha * value; }
}

@compute @workgroup_size(16)
fn matmul_nn(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let row = group.y * 8u;
  let column = group.x * 16u + local.x;
  let safe_column = min(column, params.n4 - 1u);
  let last = params.m - 1u;
  let row0 = min(row + 0u, last);
  let row1 = min(row + 1u, last);
  let row2 = min(row + 2u, last);
  let row3 = min(row + 3u, last);
  let row4 = min(row + 4u, last);
  let row5 = min(row + 5u, last);
  let row6 = min(row + 6u, last);
  let row7 = min(row + 7u, last);
  var sum0 = vec4f();
  var sum1 = vec4f();
  var sum2 = vec4f();
  var sum3 = vec4f();
  var sum4 = vec4f();
  var sum5 = vec4f();
  var sum6 = vec4f();
  var sum7 = vec4f();
  for (var k = 0u; k < params.k4; k++) {
    let b0 = b[(k * 4u + 0u) * params.n4 + safe_column];
    let b1 = b[(k * 4u + 1u) * params.n4 + safe_column];
    let b2 = b[(k * 4u + 2u) * params.n4 + safe_column];
    let b3 = b[(k * 4u + 3u) * params.n4 + safe_column];
    sum0 = accumulate(sum0, a[row0 * params.a4 + k], b0, b1, b2, b3);
    sum1 = accumulate(sum1, a[row1 * params.a4 + k], b0, b1, b2, b3);
    sum2 = accumulate(sum2, a[row2 * params.a4 + k], b0, b1, b2, b3);
    sum3 = accumulate(sum3, a[row3 * params.a4 + k], b0, b1, b2, b3);
    sum4 = accumulate(sum4, a[row4 * params.a4 + k], b0, b1, b2, b3);
    sum5 = accumulate(sum5, a[row5 * params.a4 + k], b0, b1, b2, b3);
    sum6 = accumulate(sum6, a[row6 * params.a4 + k], b0, b1, b2, b3);
    sum7 = accumulate(sum7, a[row7 * params.a4 + k], b0, b1, b2, b3);
  }
  if (column < params.n4) {
    store(row + 0u, column, sum0);
    store(row + 1u, column, sum1);
    store(row + 2u, column, sum2);
    store(row + 3u, column, sum3);
    store(row + 4u, column, sum4);
    store(row + 5u, column, sum5);
    store(row + 6u, column, sum6);
    store(row + 7u, column, sum7);
  }
}
