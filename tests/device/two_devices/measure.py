#!/usr/bin/env python3
"""Measures the table for two devices: what CUDA does when a capture on one meets the other, and what the replay then does.

    measure.py --cell two_devices_cell --out docs/measured       writes two-devices.json and two-devices.md
    measure.py --cell two_devices_cell --against two-devices.json

As legality/measure.py does it: many processes, each with a time limit. Ends with 77 where there are fewer than two GPUs, or
nothing to compare with.
"""

import argparse
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent


def load(name, path):
    """A module of another folder by its file: `measure` and `table` stand in both."""
    import importlib.util

    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


gpus = load("gpus", HERE.parents[2] / "scripts/gpus.py")
sys.path.insert(0, str(HERE.parent / "legality"))
legality = load("legality_measure", HERE.parent / "legality/measure.py")
as_markdown = load("two_devices_table", HERE / "table.py").as_markdown

TOO_FEW = 77


def cases_of(cell):
    listed = subprocess.run([cell, "--list"], capture_output=True, text=True, check=True, timeout=60)
    return [line.split("\t") for line in listed.stdout.splitlines()]


def groups_of(cases, share):
    """Lists of (family, call, mode, thread, stream, argument), several cases in one, that one process begins with."""
    cells = [
        (family, name, mode, thread, "nonblocking", f"{index}:{mode}:{thread}:nonblocking")
        for index, (family, name, threads) in enumerate(cases)
        for thread in (("same", "other") if threads == "both" else ("same",))
        for mode in legality.MODES
    ]
    return [cells[start : start + share] for start in range(0, len(cells), share)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cell", required=True, help="the program two_devices_cell")
    parser.add_argument("--out", type=Path, help="folder for two-devices.json and two-devices.md")
    parser.add_argument("--against", type=Path, help="a recorded two-devices.json that has to agree")
    parser.add_argument("--jobs", type=int, default=12)
    parser.add_argument("--share", type=int, default=12, help="cells a process begins with")
    parser.add_argument("--limit", type=float, default=30, help="seconds a process may take")
    parser.add_argument("--budget", type=float, default=90, help="seconds in all; what is left then is not measured")
    options = parser.parse_args()

    count = gpus.gpu_count()
    if count < 2:
        print("skipped: needs two GPUs")
        return TOO_FEW
    if options.against and not options.against.exists():
        print(f"{options.against} is not there: nothing to compare with")
        return TOO_FEW
    started = time.monotonic()
    groups = groups_of(cases_of(options.cell), options.share)
    until = started + options.budget
    with ThreadPoolExecutor(options.jobs) as pool:
        measured = list(pool.map(lambda group: legality.measure_group(options.cell, group, options.limit, until), groups))
    table = {"machine": (legality.gpu() or {}) | {"gpus": 2}, "cells": [cell for group in measured for cell in group]}
    odd = [cell for cell in table["cells"] if "outcome" in cell]
    print(f"{len(table['cells'])} cells in {time.monotonic() - started:.0f} s, {len(odd)} without a result")
    for cell in odd[:20]:
        print("  ", cell["call"], cell["mode"], cell["thread"], cell["outcome"])
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        rows = ",\n".join(json.dumps(cell) for cell in table["cells"])
        text = f'{{"machine": {json.dumps(table["machine"])},\n"cells": [\n{rows}\n]}}\n'
        (options.out / "two-devices.json").write_text(text, encoding="utf-8")
        (options.out / "two-devices.md").write_text(as_markdown(table), encoding="utf-8")
    if options.against:
        changed = list(legality.differences(table, json.loads(options.against.read_text(encoding="utf-8"))))
        print("\n".join(changed[:40]))
        return 1 if changed else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
