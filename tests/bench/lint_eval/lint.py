#!/usr/bin/env python3
"""Runs `capgate lint` over the listed code bases and writes one report a code base and mode, then a table.

lint.py CHECKOUTS OUT --capgate BIN [--only NAME…] [--modes region whole]
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys

import code_bases


def run(base, mode, options):
    report = options.out / f"{base.name}.{mode}.json"
    command = [
        options.capgate,
        "lint",
        "--jobs",
        "1",
        "--root",
        str(base.root),
        "--cache-dir",
        str(options.out / "cache"),
        "--out",
        str(report),
    ]
    command += ["--whole-file"] if mode == "whole" else []
    command += base.units + ["--"] + base.options
    done = subprocess.run(command, capture_output=True, text=True)
    (options.out / f"{base.name}.{mode}.txt").write_text(done.stdout + done.stderr)
    if done.returncode not in (0, 1, 2) or not report.exists():
        sys.exit(f"{base.name}: exit {done.returncode}: {done.stderr[-500:]}")
    return json.loads(report.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkouts", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--capgate", required=True)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--modes", nargs="*", default=["region", "whole"])
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    print("| code base | units | parsed | regions | errors | warnings | whole-file findings |")
    for base in code_bases.load(options.checkouts, options.only):
        if not base.units:
            print(f"| {base.name} | 0 | | | | | |")
            continue
        reports = {mode: run(base, mode, options) for mode in options.modes}
        first = reports[options.modes[0]]
        severity = collections.Counter(v["severity"] for v in first["violations"] if not v["suppressed"])
        whole = len(reports["whole"]["violations"]) if "whole" in reports else ""
        coverage = first["coverage"]
        print(
            f"| {base.name} | {len(base.units)} | {coverage['files_parsed']} | {len(coverage['regions'])} | {severity['error']} "
            f"| {severity['warning']} | {whole} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
