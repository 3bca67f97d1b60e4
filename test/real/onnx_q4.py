"""onnx_q4.py MODEL.gguf IN.json FOLDER OUT.json: the model as a q4 ONNX file, and what onnxruntime says of the first text.

The weights go from the GGUF through transformers into the exporter of onnxruntime-genai, which quantises them once more, in
blocks of 32. `accuracy_level` is taken out of the graph: it would let onnxruntime round the activations to 8 bits. The
rounded weights also go back into PyTorch: what they cost there is what quantisation costs, whoever runs them.
"""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
import torch
from load_gguf import load, tokenizer

BUILDER = [sys.executable, "-m", "onnxruntime_genai.models.builder", "-p", "int4", "-e", "cpu"]
OPTIONS = ["--extra_options", "block_size=32", "is_symmetric=false", "shared_embeddings=false"]


def build(path, folder):
    encode = tokenizer(path)
    model = load(path)
    # The exporter reads them without asking whether they are there.
    for name, token in (("bos", encode.bos_token_id), ("eos", encode.eos_token_id), ("pad", encode.pad_token_id)):
        setattr(model.config, f"{name}_token_id", token)
        setattr(model.generation_config, f"{name}_token_id", token)
    with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(folder))) as made:
        source = os.path.join(made, "hf")
        model.save_pretrained(source)
        encode.save_pretrained(source)
        names = ["-m", source, "-o", folder, "-c", os.path.join(made, "cache")]
        subprocess.run([*BUILDER, *names, *OPTIONS], check=True, stdout=sys.stderr)
        with open(os.path.join(source, "config.json")) as config, open(os.path.join(folder, "config.json"), "w") as copy:
            copy.write(config.read())
    file = os.path.join(folder, "model.onnx")
    graph = onnx.load(file, load_external_data=False)
    blocks = [node for node in graph.graph.node if node.op_type == "MatMulNBits"]
    for node in blocks:
        kept = [attribute for attribute in node.attribute if attribute.name != "accuracy_level"]
        del node.attribute[:]
        node.attribute.extend(kept)
    assert blocks, "the exporter quantised nothing"
    onnx.save(graph, file)
    return encode, model


def rounded(node, tensors):
    """Weights [N, K] of one MatMulNBits node: (code - zero point) * scale, blocks along K, low nibble first."""
    shape = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    codes, scales, zeros = (tensors[name] for name in node.input[1:4])
    nibbles = lambda packed: np.stack([packed & 15, packed >> 4], -1).reshape(shape["N"], -1)
    blocks = nibbles(codes).reshape(shape["N"], -1, shape["block_size"]).astype(np.float32)
    steps = scales.reshape(shape["N"], -1, 1)
    points = nibbles(zeros.reshape(shape["N"], -1))[:, : steps.shape[1], None].astype(np.float32)
    return torch.from_numpy(((blocks - points) * steps).reshape(shape["N"], -1)[:, : shape["K"]])


def in_pytorch(model, folder, tokens):
    """The same log-probabilities from PyTorch, on the weights as the ONNX file rounds them."""
    graph = onnx.load(os.path.join(folder, "model.onnx")).graph
    tensors = {t.name: onnx.numpy_helper.to_array(t) for t in graph.initializer}
    for node in graph.node:
        if node.op_type != "MatMulNBits":
            continue
        weights, (_, *path) = rounded(node, tensors), node.name.split("/")
        if path[0] == "lm_head":
            model.lm_head.weight = torch.nn.Parameter(weights)
            continue
        layer = model.model.layers[int(path[1].split(".")[1])]
        part = layer.self_attn if path[2] == "attn" else layer.mlp
        names = ["q_proj", "k_proj", "v_proj"] if path[3] == "qkv_proj" else [path[3]]
        slices = weights.split([getattr(part, name).weight.shape[0] for name in names])
        for name, piece in zip(names, slices):
            getattr(part, name).weight.data.copy_(piece)
    with torch.no_grad():
        scores = model(torch.tensor([tokens])).logits[0].double().log_softmax(-1).numpy()
    return [0.0, *scores[np.arange(len(tokens) - 1), tokens[1:]]]


def log_probs(folder, tokens):
    """Log-probability of each token given those before it; the first is 0."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(os.environ.get("ORACLE_THREADS", "1"))
    model = os.path.join(folder, "model.onnx")
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    ids = np.array([tokens], dtype=np.int64)
    with open(os.path.join(folder, "config.json")) as file:
        config = json.load(file)
    nothing = np.zeros((1, config["num_key_value_heads"], 0, config["head_dim"]), dtype=np.float32)
    feeds = {}
    for wanted in session.get_inputs():
        if wanted.name == "input_ids":
            feeds[wanted.name] = ids
        elif wanted.name == "attention_mask":
            feeds[wanted.name] = np.ones_like(ids)
        elif wanted.name == "position_ids":
            feeds[wanted.name] = np.arange(ids.shape[1], dtype=np.int64)[None]
        else:
            feeds[wanted.name] = nothing
    logits = session.run(["logits"], feeds)[0][0].astype(np.float64)
    top = logits.max(-1)
    total = top + np.log(np.exp(logits - top[:, None]).sum(-1))
    return [0.0, *(logits[np.arange(len(tokens) - 1), tokens[1:]] - total[:-1])]


def main(path, request, folder, out):
    with open(request) as file:
        text = json.load(file)["texts"][0]
    encode, model = build(path, folder)
    tokens = encode(text)["input_ids"]
    found = {"tokens": tokens, "logprobs": log_probs(folder, tokens), "pytorch": in_pytorch(model, folder, tokens)}
    with open(out, "w") as file:
        json.dump(found, file)


main(*sys.argv[1:])
