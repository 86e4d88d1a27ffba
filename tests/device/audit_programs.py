#!/usr/bin/env python3
"""Audits the programs of one kind on a GPU and holds each report against what its source expects.

    audit_programs.py --build BUILD KIND [--jobs N]     KIND: cpp, python, healthy or engine

The work is scripts/gpu_record's, which also keeps the traces. Ends with 77 without a GPU, or when every program of the kind
lacks something here.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from gpu_here import NO_GPU, has_gpu

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("cpp", "python", "healthy", "engine")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--build", required=True)
    parser.add_argument("--jobs", type=int, default=min(16, os.cpu_count() or 1))
    options = parser.parse_args()
    if not has_gpu():
        print("no GPU here")
        return NO_GPU
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [
                sys.executable, "-B", str(ROOT / "scripts/gpu_record"), folder, "--only", f"{options.kind}/*", "--build", options.build,
                "--jobs", str(options.jobs),
            ]
        )  # fmt: skip
        summary = Path(folder) / "summary.json"
        if done.returncode == 0 and all(entry["status"] == "skipped" for entry in json.loads(summary.read_text())):
            return NO_GPU
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
