// Causal grouped-query attention over ragged sequences, with log-sum-exp kept for the backward pass (FlashAttention-2,
// Dao 2023: p is recomputed, never stored). One thread owns one token and one key-value head, with all `GROUP` query
// heads that share it, so that every key and value is loaded once for the group. HEAD4 = head width / 4.
// A token's keys are the cache rows base .. base + position of its sequence; in training the "cache" is the batch itself.
//
// attention_forward
//   1 q      [t, q_width4] vec4, query heads first
//   2 kv     [slots, kv_width4] (key-value*.wgsl), keys from k_offset4, values from v_offset4
//   3 rows   [t] (base, position)
//   4 o      [t, kv_heads * GROUP * HEAD4] vec4
//   5 lse    [t, kv_heads * GROUP]
// attention_backward_dq (training layout: kv rows are the tokens themselves)
//   1 qkv [t, q_width4] | 2 rows | 3 o | 4 d_o | 5 lse | 6 dqkv (queries written) | 7 delta [t, heads] = sum(d_o * o)
// attention_backward_dkv
//   1 qkv | 2 ends [t]: one past the last token of the sequence | 3 d_o | 4 lse | 5 delta | 6 dqkv (keys, values written)
//
// Constants HEAD4, GROUP and key_value() are put in front of this text by src/nn/attention-kernels.ts.

struct Params {
  t: u32,
  kv_heads: u32,
  q_width4: u32,
  kv_width4: u32,
  k_offset4: u32,
  v_offset4: u32,
  scale: f32,
}

@group(0) @binding(0) var<uniform> params: Params;

@group(0) @binding(1) var<storage, read> q: array<vec4f>;
@group(0) @binding(3) var<storage, read> rows: array<vec2u>;
@group(0) @binding(4) var<storage, read_write> o: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> lse: array<f32>;

fn sum4(v: vec4f) -> f32 { return (v.x + v.y) + (v.z + v.w); }

@compute @workgroup_size(32)
fn attention_forward(@builtin(global_invocation_id) id: vec3u) {
  let token = id.x / params.kv_heads;
  let head = id.x % params.kv_heads;
  if (token >= params.t) { return; }
  let row = rows[token];
  var query: array<vec4f, GROUP * HEAD4>;
  var value: array<vec4f, GROUP * HEAD4>;
  var top: array<f32, GROUP>;
  var mass: array<f32, GROUP>;
  let at = token * params.q_width4 + head * GROUP * HEAD4;
  for (var i = 0u; i < GROUP * HEAD4; i++) { query[i] = q[at + i] * params.scale; value[i] = vec4f(); }
  for (var g = 0u; g < GROUP; g++) { top[g] = -1e30; mass[g] = 0.0; }
  for (var j = 0u; j <= row.y; j++) {
    let slot = (row.x + j) * params.kv_width4 + head * HEAD4;
    var k: array<vec4f, HEAD4>;
    var v: array<vec4f, HEAD4>;
    for (var i = 0u; i < HEAD4; i++) {
      k[i] = key_value(slot + params.k_offset4 + i);
      v[i] = key_value(slot + params.v_offset4 + i);
    }
    for (var g = 0u; g < GROUP; g++) {
      var dots = vec4f();
      for (var i = 0u; i < HEAD4; i++) { dots = fma(query[g * HEAD4 + i], k[i], dots); }
      let s = sum4(dots);
      // Of the two factors exp(top - new top) and exp(s - new top) one is always 1.
      let e = exp(-abs(s - top[g]));
      let keep = select(1.0, e, s > top[g]);
      let p = select(e, 1.0, s > top[g]);
      top[g] = max(top[g], s);
      mass[g] = mass[g] * keep + p;
      for (var i = 0u; i < HEAD4; i++) { value[g * HEAD4 + i] = fma(value[g * HEAD4 + i], vec4f(keep), v[i] * p); }
    }
  }
  let out = (token * params.kv_heads + head) * GROUP * HEAD4;
  for (var g = 0u; g < GROUP; g++) {
    lse[(token * params.kv_heads + head) * GROUP + g] = top[g] + log(mass[g]);
    for (var i = 0u; i < HEAD4; i++) { o[out + g * HEAD4 + i] = value[g * HEAD4 + i] / mass[g]; }
  }
}

@group(0) @binding(2) var<storage, read> token_rows: array<vec2u>;
@group(0) @binding(3) var<storage, read> o_in: array<vec4f>;
@group(0) @binding(4) var<storage, read> d_o: array<vec4f>;
@group(0) @binding(5) var<storage, read> lse_in: array<f32>;
@group(0) @binding(6) var<storage, read_write> dqkv: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> delta_out: array<f32>;

@compute @workgroup_size(32)
fn attention_backward_dq(@builtin(global_invocation_id) id: vec3u) {
  let token = id.x / params.kv_heads;
  let head = id.x % params.kv_heads;
  if (token >= params.t) { return; }
  let row = token_rows[token];
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
    delta_out[(token * params.kv_heads + head) * GROUP + g] = delta[g];
  }
  for (var j = 0u; j <= row.y; j++) {
    let slot = (row.x + j) * params.q_width4 + head * HEAD4;
    var k: array<vec4f, HEAD4>;
    var v: array<vec4f, HEAD4>;
    for (var i = 0u; i < HEAD4; i++) { k[i] = q[slot + params.k_offset4 + i]; v[i] = q[slot + params.v_offset4 + i]; }
    for (var g = 0u; g < GROUP; g++) {
      var dots = vec4f();
      var dps = vec4f();
      for (var i = 0u; i < HEAD4; i++) {
        dots = fma(query[g * HEAD4 + i], k[i], dots);
        dps = fma(dout[g * HEAD4 + i], v[i], dps);
      }
      let ds = exp(sum4(dots) - level[g]) * (sum4(dps) - delta[g]) * params.scale;
      for (var i = 0u; i < HEAD4; i++) { dq[g * HEAD4 + i] = fma(k[i], vec4f(ds), dq[g * HEAD4 + i]); }
    }
  }
  for (var i = 0u; i < GROUP * HEAD4; i++) { dqkv[at + i] = dq[i]; }
}

@group(0) @binding(2) var<storage, read> ends: array<u32>;
@group(0) @binding(3) var<storage, read> d_out: array<vec4f>;
@group(0) @binding(4) var<storage, read> levels: array<f32>;
@group(0) @binding(5) var<storage, read> deltas: array<f32>;

@compute @workgroup_size(32)
fn attention_backward_dkv(@builtin(global_invocation_id) id: vec3u) {
  let token = id.x / params.kv_heads;
  let head = id.x % params.kv_heads;
  if (token >= params.t) { return; }
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
  for (var t = token; t < ends[token]; t++) {
    let at = t * params.q_width4 + head * GROUP * HEAD4;
    let out = (t * params.kv_heads + head) * GROUP * HEAD4;
    for (var g = 0u; g < GROUP; g++) {
      var query: array<vec4f, HEAD4>;
      var dout: array<vec4f, HEAD4>;
      var dots = vec4f();
      var dps = vec4f();
      for (var i = 0u; i < HEAD4; i++) {
        query[i] = q[at + g * HEAD4 + i];
        dout[i] = d_out[out + g * HEAD4 + i];
        dots = fma(query[i], k[i], dots);
        dps = fma(dout[i], v[i], dps);
      }
      let stat = (t * params.kv_heads + head) * GROUP + g;
      let p = exp(sum4(dots) - levels[stat]);
      let ds = p * (sum4(dps) - deltas[stat]) * params.scale;
      for (var i = 0u; i < HEAD4; i++) {
        dk[i] = fma(query[i], vec4f(ds), dk[i]);
        dv[i] = fma(dout[i], vec4f(p), dv[i]);
      }
    }
  }
  for (var i = 0u; i < HEAD4; i++) {
    dqkv[slot + params.k_offset4 + i] = dk[i];
    dqkv[slot + params.v_offset4 + i] = dv[i];
  }
}
