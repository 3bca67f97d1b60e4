enable subgroups;

// The attention of attention.wgsl with subgroups: a workgroup of 8 lanes owns up to 8 consecutive tokens of one sequence
// and one key-value head. What the lanes share (keys and values on the way forward and to the queries, queries
// and their gradients on the way to the keys) is loaded once, one token a lane, and passed around: loads are what the
// plain kernel spends its time on (lavapipe: four times faster so). The order of every sum is the plain kernel's, so the
// bits are too. Works for any subgroup of 8 lanes or more.
//
//   tiles [n] vec4u: first token, tokens (1-8), kv row of the sequence's first token, position of the tile's first token
// attention_forward
//   1 q [t, q_width4] | 2 kv (key-value*.wgsl) | 3 tiles | 4 o [t, kv_heads * GROUP * HEAD4] | 5 lse [t, heads]
// attention_backward_dq
//   1 qkv | 2 tiles | 3 o | 4 d_o | 5 lse | 6 dqkv (queries written) | 7 delta [t, heads] = sum(d_o * o)
// attention_backward_dkv
//   1 qkv | 2 tiles | 3 ends [t]: one past the last token of the sequence | 4 d_o | 5 lse | 6 delta | 7 dqkv (keys, values)
//
// Lanes without a token repeat the tile's last one and store nothing, so that all lanes stay in step. The loops over the
// loaded tokens stay loops (shuffle, not broadcast, which would want a constant lane): written out eight times they ran
// slower on lavapipe and took a minute to compile.
//
// Constants HEAD4, GROUP and key_value() are put behind the first line by src/nn/attention-kernels.ts.

struct Params {
  kv_heads: u32,
  q_width4: u32,
  kv_width4: u32,
  k_offset4: u32,
  v_offset4: u32,
  scale: f32,
}

@group(0) @binding(0) var<uniform> params: Params;

@group(0) @binding(1) var<storage, read> q: array<vec4f>;
@group(0) @binding(3) var<storage, read> tiles: array<vec4u>;
@group(0) @binding(4) var<storage, read_write> o: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> lse: array<f32>;

const NEVER = -1e30;

fn sum4(v: vec4f) -> f32 { return (v.x + v.y) + (v.z + v.w); }

@compute @workgroup_size(8)
fn attention_forward(@builtin(workgroup_id) group: vec3u, @builtin(subgroup_invocation_id) lane: u32) {
  let tile = tiles[group.x];
  let head = group.y;
  let token = tile.x + min(lane, tile.y - 1u);
  let position = tile.w + token - tile.x;
  let keys = tile.w + tile.y;
  var query: array<vec4f, GROUP * HEAD4>;
  var value: array<vec4f, GROUP * HEAD4>;
  var top: array<f32, GROUP>;
  var mass: array<f32, GROUP>;
  let at = token * params.q_width4 + head * GROUP * HEAD4;
  for (var i = 0u; i < GROUP * HEAD4; i++) { query[i] = q[at + i] * params.scale; value[i] = vec4f(); }
  for (var g = 0u; g < GROUP; g++) { top[g] = NEVER; mass[g] = 0.0; }
  for (var j0 = 0u; j0 < keys; j0 += 8u) {
    let slot = (tile.z + min(j0 + lane, keys - 1u)) * params.kv_width4 + head * HEAD4;
    var k: array<vec4f, HEAD4>;
    var v: array<vec4f, HEAD4>;
    for (var i = 0u; i < HEAD4; i++) {
      k[i] = key_value(slot + params.k_offset4 + i);
      v[i] = key_value(slot + params.v_offset4 + i);
    }
    let count = min(8u, keys - j0);
    for (var n = 0u; n < count; n++) {
      var dots = array<vec4f, GROUP>();
      for (var i = 0u; i < HEAD4; i++) {
        let key = subgroupShuffle(k[i], n);
        for (var g = 0u; g < GROUP; g++) { dots[g] = fma(query[g * HEAD4 + i], key, dots[g]); }
      }
      var p = array<f32, GROUP>();
      var keep = array<f32, GROUP>();
      for (var g = 0u; g < GROUP; g++) {
        let s = select(NEVER, sum4(dots[g]), j0 + n <= position);
        let e = exp(-abs(s - top[g]));
        p[g] = select(e, 1.0, s > top[g]);
        keep[g] = select(1.0, e, s > top[g]);
        top[g] = max(top[g], s);
        mass[g] = mass[g] * keep[g] + p[g];
      }
      for (var i = 0u; i < HEAD4; i++) {
        let x = subgroupShuffle(v[i], n);
        for (var g = 0u; g < GROUP; g++) { value[g * HEAD4 + i] = fma(value[g * HEAD4 + i], vec4f(keep[g]), x * p[g]); }
      }
    }
  }
  if (lane >= tile.y) { return; }
  let out = (token * params.kv_heads + head) * GROUP * HEAD4;
  for (var g = 0u; g < GROUP; g++) {
    lse[(token * params.kv_heads + head) * GROUP + g] = top[g] + log(mass[g]);
    for (var i = 0u; i < HEAD4; i++) { o[out + g * HEAD4 + i] = value[g * HEAD4 + i] / mass[g]; }
  }
}

@group(0) @binding(2) var<storage, read> token_tiles: array<vec4u>;
@group(0) @binding(3) var<storage, read> o_in: array<vec4f>;
@group(0) @binding(4) var<storage, read> d_o: array<vec4f>;
@group(0) @binding(5) var<storage, read> lse_in: array<f32>;
@group(0) @binding(6) var<storage, read_write> dqkv: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> delta_out: array<f32>;

@compute @workgroup_size(8)
fn attention_backward_dq(@builtin(workgroup_id) group: vec3u, @builtin(subgroup_invocation_id) lane: u32) {
  let tile = token_tiles[group.x];
  let head = group.y;
  let token = tile.x + min(lane, tile.y - 1u);
  let position = tile.w + token - tile.x;
  let keys = tile.w + tile.y;
  var query: array<vec4f, GROUP * HEAD4>;
  var dout: array<vec4f, GROUP * HEAD4>;
  var dq: array<vec4f, GROUP * HEAD4>;
  var delta: array<f32, GROUP>;
  var level: array<f32, GROUP>;
  let at = token * params.q_width4 + head * GROUP * HEAD4;
  let out = (token * params.kv_heads + head) * GROUP * HEAD4;
  for (var g = 0u; g < GROUP; g++) {
    var dots = vec4f();
    for (var i = 0u; i < HEAD4; i++) {
      query[g * HEAD4 + i] = q[at + g * HEAD4 + i] * params.scale;
      dout[g * HEAD4 + i] = d_o[out + g * HEAD4 + i];
      dots = fma(dout[g * HEAD4 + i], o_in[out + g * HEAD4 + i], dots);
      dq[g * HEAD4 + i] = vec4f();
    }
    delta[g] = sum4(dots);
    level[g] = lse_in[(token * params.kv_heads + head) * GROUP + g];
  }
  for (var j0 = 0u; j0 < keys; j0 += 8u) {
    let slot = (tile.z + min(j0 + lane, keys - 1u)) * params.q_width4 + head * HEAD4;
    var k: array<vec4f, HEAD4>;
    var v: array<vec4f, HEAD4>;
    for (var i = 0u; i < HEAD4; i++) { k[i] = q[slot + params.k_offset4 + i]; v[i] = q[slot + params.v_offset4 + i]; }
    let count = min(8u, keys - j0);
    for (var n = 0u; n < count; n++) {
      var dots = array<vec4f, GROUP>();
      var dps = array<vec4f, GROUP>();
      for (var i = 0u; i < HEAD4; i++) {
        let key = subgroupShuffle(k[i], n);
        let val = subgroupShuffle(v[i], n);
        for (var g = 0u; g < GROUP; g++) {
          dots[g] = fma(query[g * HEAD4 + i], key, dots[g]);
          dps[g] = fma(dout[g * HEAD4 + i], val, dps[g]);
        }
      }
      var ds = array<f32, GROUP>();
      for (var g = 0u; g < GROUP; g++) {
        let all = exp(sum4(dots[g]) - level[g]) * (sum4(dps[g]) - delta[g]) * params.scale;
        ds[g] = select(0.0, all, j0 + n <= position);
      }
      for (var i = 0u; i < HEAD4; i++) {
        let key = subgroupShuffle(k[i], n);
        for (var g = 0u; g < GROUP; g++) { dq[g * HEAD4 + i] = fma(key, vec4f(ds[g]), dq[g * HEAD4 + i]); }
      }
    }
  }
  if (lane >= tile.y) { return; }
  for (var g = 0u; g < GROUP; g++) { delta_out[(token * params.kv_heads + head) * GROUP + g] = delta[g]; }
  for (var i = 0u; i < GROUP * HEAD4; i++) { dqkv[at + i] = dq[i]; }
}

@group(0) @binding(3) var<storage, read> ends: array<u32>;
@group(0) @binding(6) var<storage, read> deltas: array<f32>;
@group(0) @binding(7) var<storage, read_write> d_kv: array<vec4f>;

@compute @workgroup_size(8)
fn attention_backward_dkv(@builtin(workgroup_id) group: vec3u, @builtin(subgroup_invocation_id) lane: u32) {
  let tile = token_tiles[group.x];
  let head = group.y;
  let token = tile.x + min(lane, tile.y - 1u);
  let end = ends[tile.x];
  var k: array<vec4f, HEAD4>;
  var v: array<vec4f, HEAD4>;
  var dk: array<vec4f, HEAD4>;
  var dv: array<vec4f, HEAD4>;
  let slot = token * params.q_width4 + head * HEAD4;
  for (var i = 0u; i < HEAD4; i++) {
    k[i] = q[slot + params.k_offset4 + i] * params.scale;
    v[i] = q[slot + params.v_offset4 + i];
    dk[i] = vec4f();
    dv[i] = vec4f();
  }
  for (var t0 = tile.x; t0 < end; t0 += 8u) {
    let mine = min(t0 + lane, end - 1u);
    let at = mine * params.q_width4 + head * GROUP * HEAD4;
    let out = (mine * params.kv_heads + head) * GROUP * HEAD4;
    var query: array<vec4f, GROUP * HEAD4>;
    var d: array<vec4f, GROUP * HEAD4>;
    var level: array<f32, GROUP>;
    var delta: array<f32, GROUP>;
    for (var i = 0u; i < GROUP * HEAD4; i++) { query[i] = q[at + i]; d[i] = d_o[out + i]; }
    for (var g = 0u; g < GROUP; g++) {
      level[g] = lse_in[(mine * params.kv_heads + head) * GROUP + g];
      delta[g] = deltas[(mine * params.kv_heads + head) * GROUP + g];
    }
    let count = min(8u, end - t0);
    for (var n = 0u; n < count; n++) {
      for (var g = 0u; g < GROUP; g++) {
        var dots = vec4f();
        var dps = vec4f();
        for (var i = 0u; i < HEAD4; i++) {
          dots = fma(subgroupShuffle(query[g * HEAD4 + i], n), k[i], dots);
          dps = fma(subgroupShuffle(d[g * HEAD4 + i], n), v[i], dps);
        }
        let sees = t0 + n >= token;
        let p = select(0.0, exp(sum4(dots) - subgroupShuffle(level[g], n)), sees);
        let ds = p * (sum4(dps) - subgroupShuffle(delta[g], n)) * params.scale;
        for (var i = 0u; i < HEAD4; i++) {
          dk[i] = fma(subgroupShuffle(query[g * HEAD4 + i], n), vec4f(ds), dk[i]);
          dv[i] = fma(subgroupShuffle(d[g * HEAD4 + i], n), vec4f(p), dv[i]);
        }
      }
    }
  }
  if (lane >= tile.y) { return; }
  for (var i = 0u; i < HEAD4; i++) {
    d_kv[slot + params.k_offset4 + i] = dk[i];
    d_kv[slot + params.v_offset4 + i] = dv[i];
  }
}
