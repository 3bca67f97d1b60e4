"""generate.py MODEL.gguf IN.json OUT.json: greedy continuations of {"prompts": [...], "maxTokens": n}, each alone.

`margin` is the smallest lead of a chosen token over the second: where it is near f32's rounding, two right programs may
choose differently.
"""

import json
import sys

import torch
from load_gguf import load, tokenizer


def greedy(model, tokens, count):
    result, margin = [], float("inf")
    ids, cache = torch.tensor([tokens]), None
    for _ in range(count):
        out = model(input_ids=ids, past_key_values=cache, use_cache=True)
        cache = out.past_key_values
        best = out.logits[0, -1].topk(2)
        margin = min(margin, (best.values[0] - best.values[1]).item())
        result.append(best.indices[0].item())
        ids = best.indices[:1][None]
    return {"promptTokens": tokens, "tokens": result, "margin": margin}


def main(path, request, out):
    with open(request) as file:
        asked = json.load(file)
    encode = tokenizer(path)
    model = load(path)
    with torch.no_grad():
        results = [greedy(model, encode(p)["input_ids"], asked["maxTokens"]) for p in asked["prompts"]]
    with open(out, "w") as file:
        json.dump({"results": results}, file)


main(*sys.argv[1:])
