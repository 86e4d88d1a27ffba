#!/usr/bin/env python3
"""Each construct of the language that can carry a call, a condition or a copy, with a wait in it, inside a capture: the
static pass must find the wait or say that it did not analyse the place. Silence would be a pass over a fault. In the
clean twin the same construct carries nothing, and nothing may be found.

    CAPGATE=build/bin/capgate constructs.py [NAME...]      only these constructs; their results are printed
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from construct_table import CAPTURE, CONSTRUCTS, HELD

HERE = Path(__file__).resolve().parent
LEAST = 200

HEAD = """#include <cuda_runtime.h>
#include <algorithm>
#include <array>
#include <compare>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>
__global__ void kernel(float* p) { p[0] = 1; }
"""

FRAME = """namespace {name} {{
static void wait(cudaStream_t s) {{ {wait} }}
static bool yes(cudaStream_t s) {{ wait(s); return true; }}
{declarations}
static void step(cudaStream_t s, int d) {{
  (void)d; (void)yes;
{body}
}}
void captured(cudaStream_t s, int d) {{
  cudaGraph_t g;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  step(s, d);
  cudaStreamEndCapture(s, &g);
}}
}}  // namespace {name}
"""

HELD_FRAME = """namespace {name} {{
static void wait(cudaStream_t s) {{ {wait} }}
{declarations}
void captured(cudaStream_t s) {{
{body}
}}
}}  // namespace {name}
"""

ALL = CONSTRUCTS | {name: (CAPTURE, body) for name, body in HELD.items()}


def write(folder, faulty, names):
    """The source, and {construct: (first line, last line)}"""
    text, places = HEAD, {}
    for name in names:
        declarations, body = ALL[name]
        first = text.count("\n") + 1
        wait = "cudaStreamSynchronize(s);" if faulty else "(void)s;"
        frame = HELD_FRAME if name in HELD else FRAME
        text += frame.format(name=name, wait=wait, declarations=declarations.strip("\n"), body=body.strip("\n"))
        places[name] = (first, text.count("\n"))
    (folder / "constructs.cu").write_text(text)
    return places


def lint(folder):
    out = folder / "report.json"
    command = [os.environ["CAPGATE"], "lint", "constructs.cu", "--root", str(folder), "--no-cache", "--out", str(out), "--", "-std=c++20"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, cwd=folder, check=False)
    if not out.exists():
        sys.exit(f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
    report = json.loads(out.read_text())
    if report["coverage"].get("files_failed"):
        sys.exit("the constructs do not compile:\n" + "\n".join(r["text"] for r in report["reasons"]))
    found = {v["location"]["line"]: v for v in report["violations"]}
    regions = {}
    for reason in report["reasons"]:
        for line in re.findall(r"constructs\.cu:(\d+)", reason["text"]):
            regions.setdefault(int(line), []).append(reason["text"])
    return found, regions


def main(names):
    unknown = set(names) - set(ALL)
    if unknown:
        sys.exit(f"no construct {', '.join(sorted(unknown))}")
    wanted = names or list(ALL)
    failures, answers = [], {"found": 0, "not analysed": 0}
    if len(ALL) < LEAST:
        failures.append(f"{len(ALL)} constructs, where {LEAST} were")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        places = write(folder, True, wanted)
        found, open_places = lint(folder)
        for name, (first, last) in places.items():
            lines = range(first, last + 1)
            waits = [found[n] for n in lines if n in found]
            reasons = [text for n in lines for text in open_places.get(n, [])]
            answer = "found" if waits else "not analysed" if reasons else None
            if answer:
                answers[answer] += 1
            else:
                failures.append(f"{name}: a wait in it passes")
            if names:
                print(name, answer, *[v["message"] for v in waits], *reasons, sep="\n  ")
        places = write(folder, False, wanted)
        found, _ = lint(folder)
        for name, (first, last) in places.items():
            failures += [f"{name}: clean, but: {found[n]['message']}" for n in range(first, last + 1) if n in found]
    print(f"{len(wanted)} constructs: {answers['found']} found, {answers['not analysed']} not analysed, {len(failures)} wrong")
    print("\n".join(failures))
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
