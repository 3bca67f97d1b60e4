// Discounted returns G_t = r_t + gamma G_next over ragged sequences; one thread walks one sequence backwards.
//
// | binding | buffer  | shape                                                       |
// | 1       | starts  | [sequences + 1]: sequence s is starts[s] .. starts[s + 1]   |
// | 2       | rewards | [n]                                                         |
// | 3       | mask    | [n]: 1 = the policy acted here, 2 = and time stood still    |
// | 4       | returns | [n]                                                         |
//
// Masked entries (observations) carry the running return unchanged: no reward is taken there and no discount applied,
// as in verl's multi-turn REINFORCE++ (dreamgym.md, 5.2). Where the mask is 2 what follows is not discounted: with 2 on all
// tokens of a turn but its last, gamma counts turns and not words.

struct Params { sequences: u32, gamma: f32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> starts: array<u32>;
@group(0) @binding(2) var<storage, read> rewards: array<f32>;
@group(0) @binding(3) var<storage, read> mask: array<u32>;
@group(0) @binding(4) var<storage, read_write> returns: array<f32>;

@compute @workgroup_size(64)
fn discounted_returns(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= params.sequences) { return; }
  let first = starts[id.x];
  var running = 0.0;
  for (var t = starts[id.x + 1u]; t > first; t--) {
    let at = t - 1u;
    let gamma = select(params.gamma, 1.0, mask[at] == 2u);
    if (mask[at] != 0u) { running = fma(gamma, running, rewards[at]); }
    returns[at] = running;
  }
}
