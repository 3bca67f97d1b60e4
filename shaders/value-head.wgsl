// The critic on the shared trunk: V = w . hidden + b, one number per row of the final hidden state.
//
// value_forward  | 1 hidden [n, width] | 2 head [width + 1]: w, then b | 3 values [n]
// value_gradient | 1 hidden [n, width] | 2 grad_values [n] | 3 head gradient [width + 1], added to
// value_backward | 1 head [width + 1] | 2 grad_values [n] | 3 grad_hidden [n, width], added to: coef grad_values w
//
// `coef` decides how much the critic may bend the trunk that the policy stands on; 0 leaves it alone.

struct Params { n: u32, width: u32, coef: f32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> hidden: array<f32>;
@group(0) @binding(2) var<storage, read> head: array<f32>;
@group(0) @binding(3) var<storage, read_write> values: array<f32>;

const LANES = 64u;
var<workgroup> lane_sum: array<f32, LANES>;

// A workgroup per row; lane 0 adds the lanes in order.
@compute @workgroup_size(LANES)
fn value_forward(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let row = group.y * groups.x + group.x;
  var sum = 0.0;
  if (row < params.n) {
    for (var d = lane; d < params.width; d += LANES) { sum = fma(hidden[row * params.width + d], head[d], sum); }
  }
  lane_sum[lane] = sum;
  workgroupBarrier();
  if (lane != 0u || row >= params.n) { return; }
  var total = head[params.width];
  for (var i = 0u; i < LANES; i++) { total += lane_sum[i]; }
  values[row] = total;
}

@group(0) @binding(2) var<storage, read> grad_values: array<f32>;
@group(0) @binding(3) var<storage, read_write> grad_head: array<f32>;

// A thread per column walks the rows: the head is one vector, and a fixed order is worth more than speed.
@compute @workgroup_size(LANES)
fn value_gradient(@builtin(global_invocation_id) id: vec3u) {
  let d = id.x;
  if (d > params.width) { return; }
  var sum = grad_head[d];
  for (var row = 0u; row < params.n; row++) {
    if (d == params.width) {
      sum += grad_values[row];
    } else {
      sum = fma(grad_values[row], hidden[row * params.width + d], sum);
    }
  }
  grad_head[d] = sum;
}

@group(0) @binding(1) var<storage, read> frozen_head: array<f32>;
@group(0) @binding(3) var<storage, read_write> grad_hidden: array<f32>;

@compute @workgroup_size(LANES)
fn value_backward(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * LANES + id.x;
  if (i >= params.n * params.width) { return; }
  grad_hidden[i] = fma(params.coef * grad_values[i / params.width], frozen_head[i % params.width], grad_hidden[i]);
}
