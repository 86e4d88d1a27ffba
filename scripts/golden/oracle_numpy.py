"""The golden data's second opinion: dsv4_numpy.Model run over a case."""

import numpy as np

from dsv4_numpy import Model
from dsv4_tensors import CSA
from golden_file import margin, pad_choices

ORIGIN = "scripts/golden/dsv4_numpy.py, numpy float64 (a second implementation of the specification, not transformers)"


def _choices(model, case):
    """{tensor stem: [rows, k]} of the step just made."""
    cfg, out = case["config"], {}
    for layer, kind in enumerate(cfg["layer_types"]):
        if kind == CSA:
            chosen = model.seen.get(f"layers.{layer}.attn.indexer.selected", [[]] * model.rows)
            out[f"index/{layer}"] = pad_choices(chosen, cfg["index_topk"])
        if cfg["mlp_layer_types"][layer] == "moe":
            out[f"experts/{layer}"] = pad_choices(model.seen[f"layers.{layer}.ffn.selected"], cfg["num_experts_per_tok"])
    return out


def teacher_forced(case, weights, tokens, force=None):
    """Logits, choices, gaps and observed components of the whole case; `force` as in dsv4_numpy.Model."""
    cfg, rows, length = case["config"], case["rows"], case["length"]
    model = Model(cfg, weights, rows, length, force)
    out = {"logits": np.zeros((rows, length, cfg["vocab_size"]), np.float64)}
    for p in range(length):
        out["logits"][:, p] = model.step(tokens[:, p], p)
        for name, chosen in _choices(model, case).items():
            out.setdefault(name, np.full((rows, length, chosen.shape[1]), -1, np.int32))[:, p] = chosen
            stem, layer = name.split("/")
            inner = f"layers.{layer}.attn.indexer." if stem == "index" else f"layers.{layer}.ffn."
            gap = out.setdefault(f"{stem}_gap/{layer}", np.full((rows, length), np.inf, np.float32))
            if inner + "gap" in model.seen:
                with np.errstate(invalid="ignore"):
                    gap[:, p] = np.nan_to_num(model.seen[inner + "gap"] / model.seen[inner + "spread"], nan=np.inf, posinf=np.inf)
        if p in case["observe"]:
            for name, value in model.seen.items():
                if name.rsplit(".", 1)[-1] not in ("gap", "spread", "selected"):
                    out[f"act/{name}/{p}"] = value[-1].astype(np.float32)
    return out


def greedy(case, weights, prompt, count, record=None):
    """`count` greedy tokens after `prompt`, their margins and logits; `record`: dict that takes each fed token's choices."""
    model = Model(case["config"], weights, 1, len(prompt) + count)
    new, margins, all_logits = [], [], []
    fed = list(prompt)
    for p in range(len(prompt) + count - 1):
        logits = model.step(np.array([fed[p]]), p)[0]
        if record is not None:
            for name, chosen in _choices(model, case).items():
                record.setdefault(name, []).append(chosen[0])
        if p >= len(prompt) - 1:
            new.append(int(logits.argmax()))
            margins.append(margin(logits))
            all_logits.append(logits)
            fed.append(new[-1])
    return new, margins, all_logits


def run(case, weights, tokens):
    return teacher_forced(case, weights, tokens), lambda *a: greedy(case, weights, *a)
