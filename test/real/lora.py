"""LoRA gradients of the GRPO loss, and steps of AdamW, by PyTorch's autograd over peft's own layers.

lora.py prepare MODEL.gguf IN.json FOLDER   {"texts": [...]} -> FOLDER/init (a PEFT adapter), case.json (for the engine),
                                            gradients.safetensors and expected.json (what it should find)
lora.py compare A.safetensors B.safetensors OUT.json    {tensor: |A - B| / |A|}
"""

import json
import math
import os
import random
import sys

import torch
from load_gguf import load, log_probs, tokenizer
from safetensors.torch import load_file, save_file

RANK, ALPHA = 8, 16
PROJECTIONS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
LOSS = {"clipLow": 0.2, "clipHigh": 0.28, "dualClip": 3.0, "klCoef": 0.0, "entropyCoef": 0.0}
OPTIMIZER = {
    "learningRate": 5e-4,
    "beta1": 0.9,
    "beta2": 0.95,
    "eps": 1e-8,
    "weightDecay": 0.01,
    "maxGradNorm": 1.0,
}
STEPS = 20
# Tokens of each sequence, how many of them are the prompt (masked), and its advantage.
SEQUENCES = [(96, 24, 1.2), (64, 10, -0.6), (80, 32, 0.9), (48, 1, -0.4)]


def policy_loss(now, sequence):
    """shaders/policy-loss.wgsl, per token, summed with the weights."""
    old, weights, advantages = (torch.tensor(sequence[k]) for k in ("oldLogProbs", "weights", "advantages"))
    ratio = torch.exp(torch.clamp(now - old, -20, 20))
    clipped = torch.clamp(ratio, 1 - LOSS["clipLow"], 1 + LOSS["clipHigh"])
    surrogate = torch.maximum(-advantages * ratio, -advantages * clipped)
    capped = torch.minimum(surrogate, -advantages * LOSS["dualClip"])
    surrogate = torch.where(advantages < 0, capped, surrogate)
    # A masked token may hold anything, also what times 0 is not 0.
    return (torch.where(weights != 0, surrogate, 0) * weights).sum()


def init_adapter(model, folder):
    """Random A and B: with the usual B = 0 the gradient of A would be 0 and prove nothing."""
    from peft import LoraConfig, get_peft_model

    settings = LoraConfig(r=RANK, lora_alpha=ALPHA, target_modules=PROJECTIONS, task_type="CAUSAL_LM", bias="none")
    adapted = get_peft_model(model, settings)
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for name, value in adapted.named_parameters():
            if "lora_" in name:
                spread = 0.02 if "lora_B" in name else 1 / math.sqrt(value.shape[1])
                value.copy_(torch.randn(value.shape, generator=generator) * spread)
    adapted.save_pretrained(folder)
    return adapted.train()


def trained(adapted):
    """By the names of the PEFT file."""
    return {
        name.replace(".default.weight", ".weight"): value
        for name, value in adapted.named_parameters()
        if value.requires_grad
    }


def sequences(adapted, tokens):
    """Old log-probabilities around the present ones: some ratios clipped on either side, none at an edge."""
    rng = random.Random(3)
    edges = [1 - LOSS["clipLow"], 1 + LOSS["clipHigh"], LOSS["dualClip"]]
    loss_tokens = sum(length - prompt for length, prompt, _ in SEQUENCES)
    result = []
    for ids, (length, prompt, advantage) in zip(tokens, SEQUENCES, strict=True):
        assert len(ids) >= length
        ids = ids[:length]
        with torch.no_grad():
            now = log_probs(adapted, ids).tolist()
        old = []
        for t, value in enumerate(now):
            offset = 0.0
            while True:
                offset = 1.4 if t % 17 == 5 else rng.uniform(-0.4, 0.4)
                if all(abs(math.exp(offset) - edge) > 0.03 for edge in edges):
                    break
            old.append(value - offset)
        masked = lambda t: t < prompt
        result.append(
            {
                "tokens": ids,
                "weights": [0.0 if masked(t) else 1 / loss_tokens for t in range(length)],
                "oldLogProbs": [0.0 if masked(t) else old[t] for t in range(length)],
                "advantages": [0.0 if masked(t) else advantage for t in range(length)],
            }
        )
    return result


def backward(adapted, case):
    total = 0.0
    for sequence in case:
        loss = policy_loss(log_probs(adapted, sequence["tokens"]), sequence)
        loss.backward()
        total += loss.item()
    return total


def prepare(path, request, folder):
    with open(request) as file:
        texts = json.load(file)["texts"]
    encode = tokenizer(path)
    adapted = init_adapter(load(path), f"{folder}/init")
    case = sequences(adapted, [encode(text)["input_ids"] for text in texts[: len(SEQUENCES)]])
    init = os.path.abspath(f"{folder}/init/adapter_model.safetensors")
    with open(f"{folder}/case.json", "w") as file:
        head = {"rank": RANK, "alpha": ALPHA, "init": init, **LOSS, "optimizer": OPTIMIZER, "steps": STEPS}
        json.dump({**head, "sequences": case}, file)

    weights = trained(adapted)
    o = OPTIMIZER
    adam = torch.optim.AdamW(
        weights.values(), o["learningRate"], (o["beta1"], o["beta2"]), o["eps"], o["weightDecay"]
    )
    losses, norms = [], []
    for step in range(STEPS):
        adam.zero_grad()
        losses.append(backward(adapted, case))
        if step == 0:
            save_file({k: v.grad.clone() for k, v in weights.items()}, f"{folder}/gradients.safetensors")
        norms.append(torch.nn.utils.clip_grad_norm_(weights.values(), o["maxGradNorm"]).item())
        adam.step()
        print(f"step {step}: loss {losses[-1]:.6f}, gradient norm {norms[-1]:.6f}", file=sys.stderr, flush=True)
    with open(f"{folder}/expected.json", "w") as file:
        json.dump({"losses": losses, "gradNorms": norms}, file)


def compare(a, b, out):
    expected, found = load_file(a), load_file(b)
    assert expected.keys() == found.keys(), sorted(expected.keys() ^ found.keys())[:4]
    errors = {k: ((found[k] - v).norm() / v.norm()).item() for k, v in expected.items()}
    with open(out, "w") as file:
        json.dump(errors, file)


{"prepare": prepare, "compare": compare}[sys.argv[1]](*sys.argv[2:])
