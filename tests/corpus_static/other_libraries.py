#!/usr/bin/env python3
"""A library of which nothing is known is named as not looked into, wherever its headers lie: beside the toolkit's as
elsewhere. What is known of the toolkit and of the language's own library is not named.

    CAPGATE=build/bin/capgate other_libraries.py
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HEADER = """#pragma once
#include <cuda_runtime.h>
extern "C" int NAME(void* to, cudaStream_t stream);
"""

SOURCE = """#include <cuda_runtime.h>
#include <algorithm>
#include <nccl_like.h>
#include <other.h>
void step(void* p, cudaStream_t stream) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  ncclLikeBroadcast(p, stream);
  otherBroadcast(p, stream);
  cudaMemsetAsync(p, 0, static_cast<size_t>(std::max(3, 4)), stream);
  cudaStreamEndCapture(stream, &graph);
}
"""


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        of_the_toolkit = folder / "sdk" / "include" / "c++"  # as a folder of the system is told by its path
        elsewhere = folder / "elsewhere"
        for place, name, function in (
            (of_the_toolkit, "nccl_like.h", "ncclLikeBroadcast"),
            (elsewhere, "other.h", "otherBroadcast"),
        ):
            place.mkdir(parents=True)
            (place / name).write_text(HEADER.replace("NAME", function))
        project = folder / "project"
        project.mkdir()
        (project / "step.cu").write_text(SOURCE)
        command = [os.environ["CAPGATE"], "lint", "step.cu", "--root", str(project), "--no-cache", "--out", "report.json"]
        command += ["--", "-std=c++17", "-isystem", str(of_the_toolkit), "-isystem", str(elsewhere)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=project, check=False)
        report = json.loads((project / "report.json").read_text())
        named = [text for text in report["coverage"]["not_checked"] if "another project's" in text]
        wanted = ("ncclLikeBroadcast()", "otherBroadcast()")
        if report["verdict"] != "pass" or len(named) != len(wanted) or not all(any(w in n for n in named) for w in wanted):
            sys.exit(f"{report['verdict']}: {named}\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main()
