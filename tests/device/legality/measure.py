#!/usr/bin/env python3
"""Measures the legality table: every call, in every capture mode, from both threads, on both kinds of stream.

Cells run in many processes at once, each with a time limit: some calls hang, some break their context. Cells of one call share a
process as long as it stays in order, except where the first use is the point. Needs a GPU; without one it ends with 77,
as it does when there is no table to compare with.
"""

import argparse
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from table import as_markdown

MODES = ("global", "thread_local", "relaxed")
THREADS = ("same", "other")
STREAMS = ("nonblocking", "blocking")
ALONE = ("not loaded yet", "cudaDeviceSetLimit", "cudaDeviceSetCacheConfig", "cudaStreamDestroy(captured)", "cudaProfiler")
NO_GPU = 77


def gpu():
    """Name and driver of the GPU; None where there is none."""
    command = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if found.returncode != 0 or not found.stdout.strip():
        return None
    name, driver = found.stdout.splitlines()[0].split(",")
    return {"gpu": name.strip(), "driver": driver.strip()}


def calls_of(cell):
    listed = subprocess.run([cell, "--list"], capture_output=True, text=True, check=True, timeout=60)
    return [line.split("\t") for line in listed.stdout.splitlines()]


def groups_of(calls, share):
    """Lists of (family, call, mode, thread, stream, argument) that one process begins with."""
    for index, (family, call) in enumerate(calls):
        cells = [
            (family, call, mode, thread, stream, f"{index}:{mode}:{thread}:{stream}")
            for mode in MODES
            for thread in THREADS
            for stream in STREAMS
        ]
        size = 1 if any(part in call for part in ALONE) else share
        for start in range(0, len(cells), size):
            yield cells[start : start + size]


def measure_group(cell, group, limit, until):
    """The measured cells of the group; what hung or died is written down as that."""
    measured = []
    while group:
        if time.monotonic() > until:
            return measured + [unmeasured(c, "not measured: out of time") for c in group]
        process = subprocess.Popen([cell] + [c[5] for c in group], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            output, errors = process.communicate(timeout=limit)
            ended = "broke off: " + (errors.strip().splitlines() or [f"exit code {process.returncode}"])[-1]
            if process.returncode < 0:
                ended = f"died of signal {-process.returncode}"
        except subprocess.TimeoutExpired:
            process.kill()
            output, _ = process.communicate()
            ended = "hangs"
        lines = [json.loads(line) for line in output.splitlines() if line.endswith("}")]
        measured += lines
        group = group[len(lines) :]
        in_order = process.returncode in (0, 3) and ended != "hangs" and lines
        if group and not in_order:
            measured.append(unmeasured(group[0], ended))
            group = group[1:]
    return measured


def unmeasured(cell, why):
    family, call, mode, thread, stream, _ = cell
    return {"family": family, "call": call, "mode": mode, "thread": thread, "stream": stream, "outcome": why}


def differences(measured, recorded):
    def key(cell):
        return cell["call"], cell["mode"], cell["thread"], cell["stream"]

    before = {key(cell): cell for cell in recorded["cells"]}
    for cell in measured["cells"]:
        old = before.get(key(cell))
        if old is not None and old != cell:
            yield f"{' '.join(key(cell))}: recorded {old}, now {cell}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cell", required=True, help="the program legality_cell")
    parser.add_argument("--out", type=Path, help="folder for legality.json and legality.md")
    parser.add_argument("--against", type=Path, help="a recorded legality.json that has to agree")
    parser.add_argument("--jobs", type=int, default=16)
    parser.add_argument("--share", type=int, default=12, help="cells a process begins with")
    parser.add_argument("--limit", type=float, default=20, help="seconds a process may take")
    parser.add_argument("--budget", type=float, default=150, help="seconds in all; what is left then is not measured")
    options = parser.parse_args()

    machine = gpu()
    if machine is None:
        print("no GPU: nothing measured")
        return NO_GPU
    if options.against and not options.against.exists():
        print(f"{options.against} is not there: nothing to compare with")
        return NO_GPU
    started = time.monotonic()
    groups = list(groups_of(calls_of(options.cell), options.share))
    until = started + options.budget
    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda group: measure_group(options.cell, group, options.limit, until), groups))
    table = {"machine": machine, "cells": [cell for group in results for cell in group]}
    took = time.monotonic() - started
    odd = [cell for cell in table["cells"] if "outcome" in cell]
    print(f"{len(table['cells'])} cells in {took:.0f} s, {len(odd)} without a result")
    for cell in odd[:20]:
        print("  ", cell["call"], cell["mode"], cell["thread"], cell["stream"], cell["outcome"])
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        rows = ",\n".join(json.dumps(cell) for cell in table["cells"])
        text = f'{{"machine": {json.dumps(machine)},\n"cells": [\n{rows}\n]}}\n'
        (options.out / "legality.json").write_text(text, encoding="utf-8")
        (options.out / "legality.md").write_text(as_markdown(table), encoding="utf-8")
    if options.against:
        changed = list(differences(table, json.loads(options.against.read_text(encoding="utf-8"))))
        print("\n".join(changed[:40]))
        return 1 if changed else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
