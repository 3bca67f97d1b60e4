"""score.py MODEL.gguf IN.json OUT.json [ADAPTER_FOLDER]: tokens and log-probabilities of {"texts": [...]}.

With a folder, the adapter is loaded by peft, and it is checked that every tensor of the file found its place.
"""

import json
import sys

import torch
from load_gguf import load, log_probs, tokenizer


def with_adapter(model, folder):
    from peft import PeftModel
    from safetensors.torch import load_file

    adapted = PeftModel.from_pretrained(model, folder).eval()
    stored = load_file(f"{folder}/adapter_model.safetensors")
    placed = {
        name.replace(".default.weight", ".weight"): value
        for name, value in adapted.named_parameters()
        if "lora_" in name
    }
    assert placed.keys() == stored.keys(), sorted(placed.keys() ^ stored.keys())[:4]
    for name, value in stored.items():
        assert torch.equal(placed[name], value.float()), name
    return adapted


def main(path, request, out, folder=None):
    with open(request) as file:
        texts = json.load(file)["texts"]
    encode = tokenizer(path)
    model = load(path)
    if folder:
        model = with_adapter(model, folder)
    tokens = [encode(text)["input_ids"] for text in texts]
    with torch.no_grad():
        scores = [log_probs(model, t).tolist() for t in tokens]
    with open(out, "w") as file:
        json.dump({"tokens": tokens, "logprobs": scores}, file)


main(*sys.argv[1:])
