"""Golden values of the advantages and losses of src/rl, computed in double precision with PyTorch.

Written from the formulas as TRL and verl document and implement them (GRPO, Dr. GRPO, RLOO, REINFORCE++, GAE, DAPO, GSPO,
dual clip, value clipping, KL estimators, truncated importance sampling, DPO) and from the GiGPO paper; gradients are
PyTorch's own. Needs only `torch` (pip install torch) and is not part of the tests, which read the committed rl.json:

    python test/oracles/rl.py > test/oracles/rl.json
"""

import json
import torch

torch.set_default_dtype(torch.float64)
generator = torch.Generator().manual_seed(20251129)


def f32(x):
    """Inputs are what a 32-bit float can hold: the kernels must see the same numbers."""
    return x.to(torch.float32).to(torch.float64)


def normal(*shape, scale=1.0):
    return f32(scale * torch.randn(*shape, generator=generator))


def uniform(*shape):
    return f32(torch.rand(*shape, generator=generator))


def plain(x):
    return x.detach().tolist()


# --- advantages of groups ------------------------------------------------------------------------------------------------

# Sparse and dense returns, a group of one, one without variance (whose value has no finite binary fraction), all failed
# (every episode truncated), a group of two.
groups = [
    f32(torch.tensor([1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])),
    normal(6, scale=3.0),
    f32(torch.tensor([0.7])),
    f32(torch.tensor([0.1, 0.1, 0.1])),
    f32(torch.tensor([0.0, 0.0, 0.0, 0.0])),
    f32(torch.tensor([1.0, 0.25])),
    1000.0 + f32(torch.tensor([0.0, 1.0, 0.0, 1.0])),
]


def group_advantages(mode, eps, raw_singleton):
    everything = torch.cat(groups)
    result = []
    for r in groups:
        if len(r) == 1:
            # verl: mean 0, std 1. Else nothing to compare with.
            scale = {"group-std": 1 + eps, "batch-std": everything.std() + eps}.get(mode, 1.0)
            result.append(r / scale if raw_singleton else r * 0)
            continue
        if bool((r == r[0]).all()):
            result.append(r * 0)  # exactly: (r - r) / (0 + eps)
            continue
        centred = r - r.mean()
        if mode == "group-std":
            centred = centred / (r.std() + eps)  # unbiased, as in TRL and verl
        if mode == "batch-std":
            centred = centred / (everything.std() + eps)
        if mode == "leave-one-out":
            centred = centred * len(r) / (len(r) - 1)
        result.append(centred)
    return result


group_cases = [
    {"mode": mode, "eps": eps, "rawSingleton": raw, "advantages": [plain(a) for a in group_advantages(mode, eps, raw)]}
    for mode in ("group-std", "group-mean", "batch-std", "leave-one-out")
    for eps in (1e-4, 1e-6)
    for raw in (False, True)
]

# --- ragged token sequences ----------------------------------------------------------------------------------------------

# Observations masked, an empty completion (all masked), one without any token, one token, one long.
lengths = [9, 5, 0, 1, 40, 3]
mask = [torch.ones(n) for n in lengths]
mask[0][[0, 1, 4, 5]] = 0
mask[1][:] = 0
mask[4][[0, 1, 2, 10, 11, 12, 13, 25, 26, 39]] = 0
rewards = [normal(n) for n in lengths]
values = [normal(n) for n in lengths]


def returns_of(gamma):
    """verl, REINFORCE++: the running return is carried over observations."""
    result = []
    for r, m in zip(rewards, mask):
        running, out = torch.tensor(0.0), torch.zeros(len(r))
        for t in reversed(range(len(r))):
            if m[t] > 0:
                running = r[t] + gamma * running
            out[t] = running
        result.append(out)
    return result


def gae_of(gamma, lam):
    """verl: V_next and A_next are carried unchanged over observations."""
    advantages, returns = [], []
    for r, v, m in zip(rewards, values, mask):
        next_value, next_advantage, out = 0.0, 0.0, torch.zeros(len(r))
        for t in reversed(range(len(r))):
            delta = r[t] + gamma * next_value - v[t]
            advantage = delta + gamma * lam * next_advantage
            next_value = v[t] * m[t] + (1 - m[t]) * next_value
            next_advantage = advantage * m[t] + (1 - m[t]) * next_advantage
            out[t] = next_advantage
        advantages.append(out)
        returns.append(out + v)
    return advantages, returns


def whiten(xs):
    flat, m = torch.cat(xs), torch.cat(mask)
    n = m.sum()
    mean = (flat * m).sum() / n
    variance = ((flat - mean) ** 2 * m).sum() / n * n / (n - 1)  # masked_var, unbiased
    white = (flat - mean) * torch.rsqrt(variance + 1e-8) * m
    return list(white.split(lengths))


flat = lambda xs: plain(torch.cat(xs))
sequence_cases = []
for gamma, lam in ((1.0, 1.0), (0.95, 0.9), (0.99, 0.0)):
    advantages, returns = gae_of(gamma, lam)
    sequence_cases.append(
        {
            "gamma": gamma,
            "lambda": lam,
            "returns": flat(returns_of(gamma)),
            "whitenedReturns": flat(whiten(returns_of(gamma))),
            "gaeAdvantages": flat(advantages),
            "gaeReturns": flat(returns),
            "whitenedAdvantages": flat(whiten(advantages)),
        }
    )

# REINFORCE++ with baseline: the outcome against its group's mean, at every token, whitened over the batch's tokens.
outcomes, outcome_groups = torch.tensor([1.0, 0.0, 1.0, 0.0, 1.0, 1.0]), [0, 0, 0, 1, 1, 2]
centred = []
for i, g in enumerate(outcome_groups):
    members = [float(outcomes[j]) for j in range(6) if outcome_groups[j] == g]
    baseline = sum(members) / len(members) if len(members) > 1 else float(outcomes[i])
    centred.append(outcomes[i] - baseline)
baseline_case = {
    "returns": plain(outcomes),
    "groups": outcome_groups,
    "advantages": flat(whiten([c * m for c, m in zip(centred, mask)])),
}

# --- GiGPO ---------------------------------------------------------------------------------------------------------------

episodes = [
    (0, [("shut", 0.0), ("opened", 0.0), ("opened", 1.0)]),
    (0, [("shut", 0.0), ("shut", 0.0), ("opened", 0.0), ("nothing", 0.0)]),
    (0, [("shut", 0.0), ("opened", 1.0)]),
    (1, [("shut", 0.0), ("opened", 0.0)]),
    (1, [("shut", 0.0)]),
    (2, [("shut", 0.0), ("opened", 1.0)]),
    (3, []),
    (3, [("far", 0.5), ("shut", -0.25)]),
]


def gigpo(gamma, weight, norm, eps=1e-6):
    def among(xs, keys):
        out = torch.zeros(len(xs))
        for key in set(keys):
            members = [i for i, k in enumerate(keys) if k == key]
            own = torch.tensor([xs[i] for i in members])
            if len(members) == 1 or bool((own == own[0]).all()):
                continue
            a = own - own.mean()
            if norm == "group-std":
                a = a / (own.std() + eps)
            for i, x in zip(members, a):
                out[i] = x
        return out

    totals = [sum(r for _, r in turns) for _, turns in episodes]
    episodic = among(totals, [g for g, _ in episodes])
    following, keys = [], []
    for g, turns in episodes:
        for t, (observation, _) in enumerate(turns):
            following.append(sum(gamma**k * r for k, (_, r) in enumerate(turns[t:])))
            keys.append((g, observation))
    steps = among(following, keys)
    at, result = 0, []
    for i, (_, turns) in enumerate(episodes):
        result.append(plain(episodic[i] + weight * steps[at : at + len(turns)]))
        at += len(turns)
    return result


gigpo_cases = [
    {"gamma": gamma, "weight": weight, "normalization": norm, "advantages": gigpo(gamma, weight, norm)}
    for gamma, weight, norm in ((0.95, 1.0, "group-std"), (0.95, 0.5, "group-mean"), (1.0, 1.0, "group-std"))
]

# --- policy losses -------------------------------------------------------------------------------------------------------

n = 96
sizes = [20, 1, 30, 0, 45]
log_probs = f32(-normal(n).abs())
gap = normal(n) * torch.tensor([1e-3, 0.1, 0.5, 2.0]).repeat(n // 4)
old = f32(log_probs - gap)
reference = f32(log_probs + normal(n) * torch.tensor([1e-3, 0.3, 1.5]).repeat(n // 3))
policy_advantages = normal(n)
policy_advantages[::11] = 0
entropy = f32(3 * uniform(n))
weights = f32(uniform(n) / n)
weights[::5] = 0
sample_starts = [0]
for size in sizes:
    sample_starts.append(sample_starts[-1] + size)


def kl_estimate(kind, lp, ref):
    d = ref - lp
    if kind == "k1":
        return -d
    if kind == "k2":
        return 0.5 * d * d
    return torch.clamp(torch.exp(torch.clamp(d, -20, 20)) - torch.clamp(d, -20, 20) - 1, -10, 10)


def policy_loss(lp, h, s):
    log_ratio = lp - old
    if s["importance"] == "sequence":
        # verl's gspo: s_i(theta) = mean log-ratio, each token carries its gradient.
        rows = []
        for a, b in zip(sample_starts, sample_starts[1:]):
            m = (weights[a:b] != 0).to(torch.float64)
            mean = (log_ratio[a:b] * m).sum() / m.sum().clamp(min=1)
            rows.append(lp[a:b] - lp[a:b].detach() + mean.detach())
        log_ratio = torch.cat(rows + [lp[sample_starts[-1] :] - old[sample_starts[-1] :]])
    ratio = torch.exp(torch.clamp(log_ratio, -20, 20))
    a = policy_advantages
    surrogate = torch.maximum(-a * ratio, -a * torch.clamp(ratio, 1 - s["clipLow"], 1 + s["clipHigh"]))
    if s["dualClip"] > 0:
        surrogate = torch.where(a < 0, torch.minimum(surrogate, -a * s["dualClip"]), surrogate)
    per_token = surrogate + s["klCoef"] * kl_estimate(s["klEstimator"], lp, reference) - s["entropyCoef"] * h
    return (weights * per_token)[: sample_starts[-1]].sum()


def settings(**changes):
    base = dict(clipLow=0.2, clipHigh=0.28, dualClip=3.0, klCoef=0.0, entropyCoef=0.0, klEstimator="k3", importance="token")
    return {**base, **changes}


policy_cases = []
for name, s in {
    "clip-higher and dual clip": settings(),
    "TRL GRPO, k3": settings(clipHigh=0.2, dualClip=0.0, klCoef=0.04),
    "k1 and entropy": settings(klCoef=0.1, klEstimator="k1", entropyCoef=0.01),
    "k2": settings(klCoef=0.1, klEstimator="k2"),
    "GSPO": settings(clipLow=3e-4, clipHigh=4e-4, dualClip=0.0, importance="sequence"),
    "GSPO, wide clip, everything": settings(dualClip=2.0, importance="sequence", klCoef=0.05, entropyCoef=0.02),
}.items():
    lp = log_probs.clone().requires_grad_()
    h = entropy.clone().requires_grad_()
    loss = policy_loss(lp, h, s)
    loss.backward()
    policy_cases.append(
        {"name": name, "settings": s, "loss": loss.item(), "gradLogProb": plain(lp.grad), "gradEntropy": plain(h.grad)}
    )

# --- aggregation ---------------------------------------------------------------------------------------------------------

token_losses = [normal(n) for n in (4, 1, 7, 3)]
token_masks = [torch.tensor(m) for m in ([0.0, 1, 1, 0], [0.0], [0.0, 1, 1, 1, 0, 1, 1], [0.0, 0, 1])]
masked_sums = [(l * m).sum() for l, m in zip(token_losses, token_masks)]
tokens = sum(m.sum() for m in token_masks)
answered = [i for i, m in enumerate(token_masks) if m.sum() > 0]
aggregation_case = {
    "losses": [plain(l) for l in token_losses],
    "masks": [plain(m) for m in token_masks],
    "horizon": 16,
    "token-mean": (sum(masked_sums) / tokens).item(),
    # Over the answers that have a token: an empty one has no mean.
    "sequence-mean": (sum(masked_sums[i] / token_masks[i].sum() for i in answered) / len(answered)).item(),
    "sequence-sum-norm": (sum(masked_sums) / (len(answered) * 16)).item(),
}

# --- critic --------------------------------------------------------------------------------------------------------------

old_values = normal(64)
new_values = f32(old_values + normal(64, scale=0.7))
targets = normal(64)
value_weights = f32(uniform(64) / 64)
value_weights[::7] = 0
value_cases = []
for clip in (0.0, 0.2, 0.5):
    v = new_values.clone().requires_grad_()
    losses = (v - targets) ** 2
    if clip > 0:
        bounded = torch.clamp(v, old_values - clip, old_values + clip)
        losses = torch.maximum(losses, (bounded - targets) ** 2)
    loss = (0.5 * losses * value_weights).sum()
    loss.backward()
    value_cases.append({"clip": clip, "loss": loss.item(), "grad": plain(v.grad)})

# --- sampler and trainer -------------------------------------------------------------------------------------------------

sampler = [f32(v - normal(len(v), scale=0.3)) for v in values]
correction_cases = []
for mode in ("token-truncate", "token-mask", "sequence-truncate", "sequence-mask"):
    for cap in (1.2, 3.0):
        out = []
        for lp, s, m in zip(values, sampler, mask):
            d = (lp - s) * m
            ratio = torch.exp(d.sum().expand(len(d)) if mode.startswith("sequence") else d)
            ratio = ratio.clamp(max=cap) if mode.endswith("truncate") else ratio.masked_fill(ratio > cap, 0.0)
            out.append(ratio * m)
        correction_cases.append({"mode": mode, "cap": cap, "factor": flat(out)})

# --- DPO -----------------------------------------------------------------------------------------------------------------

# Masked prompts; an empty chosen answer in the third pair; large margins on both sides in the last two.
pair_lengths = [(7, 9), (5, 5), (4, 6), (12, 3), (8, 8)]
sides = [[], []]
for p, (a, b) in enumerate(pair_lengths):
    for side, length in enumerate((a, b)):
        m = torch.ones(length)
        m[:2] = 0
        if p == 2 and side == 0:
            m[:] = 0
        lp = f32(-normal(length).abs())
        shift = (0.0, 0.0, 0.0, 6.0, -9.0)[p] * (1 if side == 0 else -1)
        sides[side].append((lp, f32(lp - normal(length, scale=0.5) - shift), m))

dpo_cases = []
for beta, smoothing in ((0.1, 0.0), (0.5, 0.0), (0.3, 0.1)):
    leaves, losses, pair_rewards = [], [], []
    for chosen, rejected in zip(*sides):
        sums = []
        for lp, ref, m in (chosen, rejected):
            leaf = lp.clone().requires_grad_()
            leaves.append(leaf)
            sums.append(((leaf - ref) * m).sum())
        h = beta * (sums[0] - sums[1])
        logsigmoid = torch.nn.functional.logsigmoid
        losses.append(-(1 - smoothing) * logsigmoid(h) - smoothing * logsigmoid(-h))
        pair_rewards.append([beta * sums[0].item(), beta * sums[1].item()])
    torch.stack(losses).mean().backward()
    dpo_cases.append(
        {
            "beta": beta,
            "labelSmoothing": smoothing,
            "losses": [l.item() for l in losses],
            "rewards": pair_rewards,
            "grad": [plain(leaf.grad) for leaf in leaves],
        }
    )

print(
    json.dumps(
        {
            "torch": torch.__version__,
            "groups": {"returns": [plain(g) for g in groups], "cases": group_cases},
            "sequences": {
                "lengths": lengths,
                "mask": [int(x) for m in mask for x in m],
                "rewards": flat(rewards),
                "values": flat(values),
                "cases": sequence_cases,
            },
            "baseline": baseline_case,
            "gigpo": {
                "episodes": [
                    {"group": g, "turns": [{"observation": o, "reward": r} for o, r in turns]} for g, turns in episodes
                ],
                "cases": gigpo_cases,
            },
            "policy": {
                "logProbs": plain(log_probs),
                "old": plain(old),
                "reference": plain(reference),
                "advantages": plain(policy_advantages),
                "weights": plain(weights),
                "entropy": plain(entropy),
                "sampleStarts": sample_starts,
                "cases": policy_cases,
            },
            "aggregation": aggregation_case,
            "value": {
                "values": plain(new_values),
                "old": plain(old_values),
                "returns": plain(targets),
                "weights": plain(value_weights),
                "cases": value_cases,
            },
            "correction": {"sampler": flat(sampler), "cases": correction_cases},
            "dpo": {
                "pairs": [
                    {
                        name: {"logProbs": plain(lp), "refLogProbs": plain(ref), "mask": [int(x) for x in m]}
                        for name, (lp, ref, m) in (("chosen", chosen), ("rejected", rejected))
                    }
                    for chosen, rejected in zip(*sides)
                ],
                "cases": dpo_cases,
            },
        }
    )
)
