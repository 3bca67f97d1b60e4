// SwiGLU (Shazeer 2020): y = silu(gate) * up, from the packed projection gu [t, 2 f] = [gate | up].
//
// swiglu_forward  | 1 gu [t, 2f] | 2 y [t, f]
// swiglu_backward | 1 gu [t, 2f] | 2 dy [t, f] | 3 dgu [t, 2f]

struct Params { t: u32, f4: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> gu: array<vec4f>;

@group(0) @binding(2) var<storage, read_write> y: array<vec4f>;

@compute @workgroup_size(64)
fn swiglu_forward(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= params.f4) { return; }
  let gate = gu[id.y * params.f4 * 2u + id.x];
  let up = gu[id.y * params.f4 * 2u + params.f4 + id.x];
  y[id.y * params.f4 + id.x] = gate / (1.0 + exp(-gate)) * up;
}

@group(0) @binding(2) var<storage, read> dy: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> dgu: array<vec4f>;

@compute @workgroup_size(64)
fn swiglu_backward(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= params.f4) { return; }
  let at = id.y * params.f4 * 2u + id.x;
  let gate = gu[at];
  let up = gu[at + params.f4];
  let d = dy[id.y * params.f4 + id.x];
  let sigmoid = 1.0 / (1.0 + exp(-gate));
  dgu[at] = d * up * sigmoid * (1.0 + gate * (1.0 - sigmoid));
  dgu[at + params.f4] = d * gate * sigmoid;
}
