#!/usr/bin/env python3
"""Audits the programs of this folder on a GPU: what they verify is evidence, and what differs is named.

    audited.py --capgate CAPGATE --program verify_programs [--keep DIR]     DIR receives reports and traces

Ends with 77 without a GPU.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from gpu_here import NO_GPU, has_gpu  # noqa: E402

# Of verify_programs: the output that differs first, and the rules that may explain it.
FAULTS = {
    "frozen-scalar": "logits",
    "frozen-position": "logits",
    "missing-work": "squares",
    "freed-memory": "logits",
    "not-loaded": "logits",
}
UNFILLED = "equal, with no free memory to fill"
PYTHON = {
    "PyTorch.test_a_right_graph": None,
    "PyTorch.test_a_graph_that_is_captured_here": None,
    "PyTorch.test_a_position_that_the_graph_keeps": "logits",
    "PyTorch.test_modules_of_half_precision": None,
    "CuPy.test_a_right_graph": UNFILLED,
}


def expect(report, differs):
    """What is wrong with the report, one line each."""
    replay = report["coverage"].get("replay", {})
    verified = replay.get("verified", [])
    wrong = []
    if not verified:
        return ["no verification in coverage.replay"]
    mismatches = [v for v in report["violations"] if v["rule"] == "replay-mismatch"]
    if differs in (None, UNFILLED):
        wrong += [f"{v['name']}: {v['result']}: {v.get('why', '')}" for v in verified if v["result"] != "equal"]
        wrong += [f"{v['executable']} is not verified: {v['why']}" for v in replay.get("not_verified", [])]
        wrong += [f"{v['name']}: nothing was filled" for v in verified if v["refilled_bytes"] == 0 and differs is None]
        wrong += [v["message"] for v in mismatches]
        wrong += [f"a verification's own waits are judged: {v['rule']}" for v in report["violations"] if v["phase"] == "step"]
    elif len(mismatches) != 1:
        wrong.append(f"{len(mismatches)} replay-mismatch")
    elif mismatches[0]["details"]["differs"] != differs:
        wrong.append(f"{mismatches[0]['details']['differs']} differs first, not {differs}")
    elif not Path(mismatches[0]["location"]["file"]).name.startswith("verify_"):
        wrong.append(f"the finding is at {mismatches[0]['location']}")
    return wrong


def audit(options, name, command, differs, gated):
    report = options.keep / f"{name}.json"
    done = subprocess.run(
        [options.capgate, "audit", "--out", report, "--trace", options.keep / name, "--", *command],
        capture_output=True, text=True, timeout=300,
        env=os.environ | {"CAPGATE_SOURCE": str(HERE.parents[2])} | ({"WITHOUT_CUPY": "1"} if name.startswith("PyTorch") else {}),
    )  # fmt: skip
    if not report.exists():
        return [f"no report: {done.stderr[-400:]}"]
    content = json.loads(report.read_text(encoding="utf-8"))
    if "skipped" in done.stderr and not content["coverage"].get("replay"):
        return None
    wrong = expect(content, differs)
    if gated and differs is None and not wrong:
        gate = subprocess.run([options.capgate, "gate", report, "--require", "replay"], capture_output=True, text=True)
        if gate.returncode != 0:
            wrong.append(gate.stdout)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--capgate", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    if not has_gpu():
        print("no GPU here")
        return NO_GPU
    with tempfile.TemporaryDirectory() as folder:
        options.keep = options.keep or Path(folder)
        options.keep.mkdir(parents=True, exist_ok=True)
        cases = [("none", [options.program, "none"], None, True)]
        cases += [(fault, [options.program, fault], differs, False) for fault, differs in FAULTS.items()]
        script = str(HERE / "verify_gpu_test.py")
        # CuPy's blocks are not followed: its gate stays closed.
        cases += [(test, [sys.executable, "-B", script, test], differs, "CuPy" not in test) for test, differs in PYTHON.items()]
        failed = 0
        for name, command, differs, gated in cases:
            wrong = audit(options, name, command, differs, gated)
            print(f"{name}: {'skipped' if wrong is None else 'as expected' if not wrong else '; '.join(wrong)}", flush=True)
            failed += bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
