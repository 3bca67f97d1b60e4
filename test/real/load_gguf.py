"""A Llama-style GGUF as a PyTorch model in f32: the same dequantised weights that the engine computes with.

The blocks are dequantised by the `gguf` package, not by our code. llama.cpp's converter interleaves the rows of q and k
within each head (its rotation pairs neighbours, Hugging Face's pairs halves); that is undone here.
"""

import os
import sys

import numpy as np
import torch
from gguf import GGUFReader, dequantize
from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

torch.set_num_threads(int(os.environ.get("ORACLE_THREADS", "1")))

LAYER_NAMES = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
OTHER_NAMES = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}


def hugging_face_name(name):
    if name in OTHER_NAMES:
        return OTHER_NAMES[name]
    blk, layer, part, weight = name.split(".")
    assert blk == "blk" and weight == "weight", name
    return f"model.layers.{layer}.{LAYER_NAMES[part]}.weight"


def unpermute(rows, heads):
    """[heads * head_dim, columns], pairs next to each other -> halves."""
    return rows.reshape(heads, rows.shape[0] // heads // 2, 2, -1).swapaxes(1, 2).reshape(rows.shape)


def load(path):
    reader = GGUFReader(path)
    field = lambda key: reader.fields[key].contents()
    assert field("general.architecture") == "llama", "only Llama-style files are checked here"
    heads, kv_heads = field("llama.attention.head_count"), field("llama.attention.head_count_kv")
    weights = {}
    for tensor in reader.tensors:
        values = np.ascontiguousarray(dequantize(tensor.data, tensor.tensor_type), dtype=np.float32)
        values = values.reshape(tuple(reversed(tensor.shape.tolist())))
        if ".attn_q." in tensor.name:
            values = unpermute(values, heads)
        if ".attn_k." in tensor.name:
            values = unpermute(values, kv_heads)
        weights[hugging_face_name(tensor.name)] = torch.from_numpy(values.copy())
    config = LlamaConfig(
        vocab_size=weights["model.embed_tokens.weight"].shape[0],
        hidden_size=field("llama.embedding_length"),
        num_hidden_layers=field("llama.block_count"),
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        intermediate_size=field("llama.feed_forward_length"),
        max_position_embeddings=field("llama.context_length"),
        rope_parameters={"rope_type": "default", "rope_theta": field("llama.rope.freq_base")},
        rms_norm_eps=field("llama.attention.layer_norm_rms_epsilon"),
        tie_word_embeddings="lm_head.weight" not in weights,
    )
    config._attn_implementation = "eager"
    with torch.device("meta"):
        model = LlamaForCausalLM(config)
    if config.tie_word_embeddings:
        weights["lm_head.weight"] = weights["model.embed_tokens.weight"]
    model.load_state_dict(weights, strict=True, assign=True)
    model.tie_weights()
    # Buffers are no part of the state; on the meta device they have no values either.
    model.model.rotary_emb = type(model.model.rotary_emb)(config)
    assert model.dtype == torch.float32
    return model.eval().requires_grad_(False)


def tokenizer(path):
    """transformers' own from the file, plus what it leaves out: SmolLM splits every number sign off first, as llama.cpp
    does for `tokenizer.ggml.pre = smollm` and as the model's own tokenizer.json says."""
    folder, name = os.path.split(os.path.abspath(path))
    made = AutoTokenizer.from_pretrained(folder, gguf_file=name)
    if GGUFReader(path).fields["tokenizer.ggml.pre"].contents() == "smollm":
        steps = [Digits(individual_digits=True), ByteLevel(add_prefix_space=False, use_regex=True)]
        made.backend_tokenizer.pre_tokenizer = Sequence(steps)
    return made


def log_probs(model, tokens):
    """[len], differentiable: log-probability of each token given those before it; the first is 0."""
    ids = torch.tensor([tokens])
    logits = model(input_ids=ids, use_cache=False).logits[0, :-1].float()
    chosen = torch.log_softmax(logits, -1).gather(-1, ids[0, 1:, None])[:, 0]
    return torch.cat([torch.zeros(1), chosen])


if __name__ == "__main__":
    print(sum(p.numel() for p in load(sys.argv[1]).parameters()), "weights")
