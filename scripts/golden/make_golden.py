#!/usr/bin/env python3
"""Makes the golden data of the decode engine: what transformers' deepseek_v4 computes for the models of dsv4_cases.py.

    python3 scripts/golden/make_golden.py --out DIR                  # torch and transformers; CPU; no network
    python3 scripts/golden/make_golden.py --oracle numpy --out DIR   # the second opinion alone; needs numpy only
    python3 scripts/golden/make_golden.py --save-pretrained CASE --out DIR   # only DIR/CASE, as transformers saves a model

Writes DIR/golden.safetensors (layout: golden_file.py) and DIR/golden-summary.json: for each case how far the oracle and
the float64 second opinion are apart, and any choice in which they differ beyond a rounding error. A case that fails is
left out, named in the summary, and makes the exit status 1.
"""

import argparse
import json
import os
import sys
import time
import traceback

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

import golden_file
import oracle_numpy
from dsv4_cases import CASES
from dsv4_generator import weights as generate_weights

LONG_PROMPT = 5


def _load(oracle):
    if oracle == "numpy":
        return oracle_numpy
    import oracle_transformers

    return oracle_transformers


def _compare(case, got, tokens, weights):
    """The oracle against the second opinion that was made to take the oracle's choices."""
    force = {(int(name.split("/")[1]), name.split("/")[0]): value for name, value in got.items() if name.startswith(("index/", "experts/"))}
    own = oracle_numpy.teacher_forced(case, weights, tokens, force)
    free = oracle_numpy.teacher_forced(case, weights, tokens)
    spread = own["logits"].std()
    summary = {
        "max_logit_difference_over_std": float(np.abs(got["logits"] - own["logits"]).max() / spread),
        "choices": 0,
        "choices_that_differ": 0,
        "largest_relative_gap_of_a_difference": 0.0,
        "components": {},
    }
    for name, value in got.items():
        stem, _, rest = name.partition("/")
        if stem in ("index", "experts"):
            differs = (free[name] != value).any(-1)
            summary["choices"] += int(differs.size)
            summary["choices_that_differ"] += int(differs.sum())
            if differs.any():
                gap = float(own[f"{stem}_gap/{rest}"][differs].max())
                summary["largest_relative_gap_of_a_difference"] = max(summary["largest_relative_gap_of_a_difference"], gap)
        if stem == "act":
            if name not in own:
                summary.setdefault("components_without_a_twin", []).append(name)
                continue
            scale = float(np.sqrt(np.mean(np.square(own[name], dtype=np.float64)))) or 1.0
            component = rest.rsplit("/", 1)[0].split(".")
            key = ".".join("L" if part.isdigit() else part for part in component)
            delta = float(np.abs(value.reshape(own[name].shape) - own[name]).max() / scale)
            summary["components"][key] = max(summary["components"].get(key, 0.0), delta)
    summary["components_that_only_the_twin_has"] = sorted(n for n in own if n.startswith("act/") and n not in got)[:8]
    return summary, {name: value for name, value in own.items() if "_gap/" in name}


def make_case(case, oracle):
    """({tensor name: array}, summary) of one case; the summary alone, with the error, if it failed."""
    start = time.time()
    try:
        backend = _load(oracle)
        weights = generate_weights(case["config"], case["seed"], case["storage"])
        tokens = golden_file.tokens_of(case)
        got, greedy = backend.run(case, weights, tokens)
        summary, gaps = _compare(case, got, tokens, weights)
        tensors = {"tokens": tokens, **got, **gaps}
        for n in case["prompts"]:
            new, margins, _ = greedy(tokens[0, :n].tolist(), golden_file.GREEDY_TOKENS)
            tensors[f"greedy/{n}"] = np.array(new, np.int32)
            tensors[f"greedy_margin/{n}"] = np.array(margins, np.float32)
        if case["long_greedy"]:
            record = {}
            new, margins, logits = greedy(tokens[0, :LONG_PROMPT].tolist(), case["long_greedy"], record)
            tensors["long/tokens"] = np.array(new, np.int32)
            tensors["long/margin"] = np.array(margins, np.float32)
            tensors["long/logits"] = np.array(logits[255::256], np.float32)
            for name, rows in record.items():
                tensors[f"long/{name}"] = np.array(rows, np.int32)
        for name, value in tensors.items():
            if value.dtype == np.float64:
                tensors[name] = value.astype(np.float32)
        summary["seconds"] = round(time.time() - start, 1)
        return {f"{case['name']}/{name}": value for name, value in tensors.items()}, {"name": case["name"], **summary}
    except Exception:
        return {}, {"name": case["name"], "error": traceback.format_exc(), "seconds": round(time.time() - start, 1)}


def save_pretrained(case, folder):
    """The case's model as `save_pretrained` writes it: config.json, generation_config.json, model.safetensors."""
    import oracle_transformers

    model = oracle_transformers.build(case, generate_weights(case["config"], case["seed"], case["storage"]))
    model.save_pretrained(folder)
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", required=True)
    parser.add_argument("--oracle", choices=("transformers", "numpy"), default="transformers")
    parser.add_argument("--cases", default="", help="comma-separated names; default: all")
    parser.add_argument("--jobs", type=int, default=min(len(CASES), os.cpu_count() or 1))
    parser.add_argument("--save-pretrained", metavar="CASE", help="only this case's model, as transformers saves it")
    args = parser.parse_args()
    if args.save_pretrained:
        chosen = [c for c in CASES if c["name"] == args.save_pretrained]
        if not chosen:
            parser.error(f"there is no case {args.save_pretrained!r}")
        save_pretrained(chosen[0], os.path.join(args.out, args.save_pretrained))
        return 0
    cases = [c for c in CASES if not args.cases or c["name"] in args.cases.split(",")]
    os.makedirs(args.out, exist_ok=True)
    if args.jobs > 1:
        with ProcessPoolExecutor(args.jobs, mp_context=get_context("spawn")) as pool:
            results = list(pool.map(make_case, cases, [args.oracle] * len(cases)))
    else:
        results = [make_case(case, args.oracle) for case in cases]

    tensors, summaries = {}, []
    for made, summary in results:
        tensors.update(made)
        summaries.append(summary)
    good = [{**case, "long_prompt": LONG_PROMPT} for case, (made, _) in zip(cases, results) if made]
    origin = _load(args.oracle).ORIGIN if good else "nothing could be computed"
    golden_file.write(os.path.join(args.out, "golden.safetensors"), origin, good, tensors)
    with open(os.path.join(args.out, "golden-summary.json"), "w") as out:
        json.dump({"origin": origin, "cases": summaries}, out, indent=1)
    for s in summaries:
        if "error" in s:
            print(f"{s['name']}: FAILED\n{s['error']}")
        else:
            print(
                f"{s['name']}: max |difference| / std {s['max_logit_difference_over_std']:.2e}, "
                f"{s['choices_that_differ']} of {s['choices']} choices differ "
                f"(largest relative gap {s['largest_relative_gap_of_a_difference']:.1e}), {s['seconds']} s"
            )
    return 1 if any("error" in s for s in summaries) else 0


if __name__ == "__main__":
    sys.exit(main())
