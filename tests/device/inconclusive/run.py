#!/usr/bin/env python3
"""Audits runs that prove nothing, on a GPU: each is inconclusive, says why, and names what would change it.

    run.py --capgate CAPGATE --program inconclusive_program [--only CASE] [--out DIR]

What a run proved before it was cut short still counts: an error beats every reason. Ends with 77 without a GPU; without a
driver the audit says so too, which its own tests see.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "corpus")]

from expectations.judge import function_name
from gpu_here import NO_GPU, has_gpu

LIMIT = 60  # seconds a case


@dataclass
class Case:
    name: str
    program: list  # words after the program
    exit_code: int
    verdict: str = "inconclusive"
    reasons: list = field(default_factory=list)  # regular expressions, each met by a reason
    remedy: str = "capgate audit"  # in the remedy of the first of them
    audit: list = field(default_factory=list)  # options
    before: list = field(default_factory=list)  # words before the program
    environment: dict = field(default_factory=dict)
    attached: bool | None = True  # a process of the run was watched; None: either way
    findings: list = field(default_factory=list)  # "severity rule function", the errors


CASES = [
    # What the others are cut-down forms of: without it they would prove nothing about themselves.
    Case("the whole run passes", ["captures"], 0, "pass", audit=["--expect-bucket", "bs=1"]),
    Case(
        "CUPTI held by another", ["held", "{libcupti}"], 2, reasons=[r"CUPTI is held by holder\b"],
        remedy=r"without holder: capgate audit", attached=False,
    ),
    Case(
        "no GPU", ["no-gpu"], 2, reasons=[r"no GPU"], remedy=r"nvidia-smi.*CUDA_VISIBLE_DEVICES",
        environment={"CUDA_VISIBLE_DEVICES": ""}, attached=None,
    ),
    Case("no capture and no region", ["no-step"], 2, reasons=[r"no capture completed, and no marked region was seen twice"], remedy=r"--region"),
    Case("a region seen once", ["region-once"], 2, reasons=[r"no marked region was seen twice"], remedy=r"--region"),
    Case("killed", ["killed"], 2, reasons=[r"died of signal 9"], remedy=r"audit it again"),
    Case(
        "killed inside a capture", ["killed-in-capture"], 2, reasons=[r"still open when the trace ended", r"died of signal 9"],
        remedy=r"cudaStreamEndCapture",
    ),
    Case(
        "killed after a fault", ["killed-after-fault"], 1, "fail", reasons=[r"died of signal 9"], remedy=r"repair the errors .*, then audit the program again",
        findings=["error host-sync wait_in_capture"],
    ),
    Case(
        "a capture left open", ["ends-in-capture"], 2, reasons=[r"still open when the trace ended"],
        remedy=r"cudaStreamEndCapture",
    ),
    Case("the program fails", ["exit-7"], 3, reasons=[r"ended with exit code 7"], remedy=r"exit code 0"),
    Case(
        "an expected bucket", ["captures"], 2, audit=["--expect-bucket", "bs=1", "--expect-bucket", "bs=64"],
        reasons=[r'bucket "bs=64" was not captured'], remedy=r"--expect-bucket 'bs=64'",
    ),
    Case(
        "an emptied environment", ["captures"], 2, before=["env", "-i", "{loader}"], attached=False,
        reasons=[r"used CUDA and left no trace: LD_PRELOAD did not reach it"], remedy=r"start it under capgate itself",
    ),
]  # fmt: skip


def libcupti():
    """The toolkit's, else the one that came with a Python package."""
    toolkits = [Path(os.environ[name]) for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    toolkits += [Path("/usr/local/cuda"), *sorted(Path("/usr/local").glob("cuda-*"), reverse=True)]
    for folder in [toolkit / part for toolkit in toolkits for part in ("lib64", "extras/CUPTI/lib64")]:
        if found := sorted(folder.glob("libcupti.so.*")):
            return str(found[0])
    python = shutil.which("python3") or sys.executable
    listed = subprocess.run([python, "-c", "import site; print(*site.getsitepackages(), sep='\\n')"], capture_output=True, text=True)
    for site in listed.stdout.splitlines():
        if found := sorted(Path(site).glob("nvidia/*/lib/libcupti.so.*")):
            return str(found[0])
    return None


def differences(case, exit_code, report, shown):
    """What is not as the case says, one sentence each."""
    found = []
    if exit_code != case.exit_code:
        found.append(f"exit code {exit_code}, expected {case.exit_code}")
    if report["verdict"] != case.verdict:
        found.append(f"verdict {report['verdict']}, expected {case.verdict}")
    reasons = report["reasons"]
    for number, wanted in enumerate(case.reasons):
        met = [reason for reason in reasons if re.search(wanted, reason["text"])]
        if not met:
            found.append(f"no reason says /{wanted}/")
        elif number == 0 and not re.search(case.remedy, met[0]["remedy"]):
            found.append(f"its remedy does not say /{case.remedy}/: {met[0]['remedy']!r}")
    if not case.reasons and reasons:
        found.append("reasons where none is expected")
    for reason in reasons:
        if not reason["remedy"].strip():
            found.append(f"a reason without a remedy: {reason['text']}")
    attached = any(process["attached"] for process in report["coverage"]["processes"])
    if case.attached not in (None, attached):
        found.append(f"{'a' if attached else 'no'} process was watched")
    errors = [
        f"{v['severity']} {v['rule']} {function_name(v['location'].get('function', ''))}"
        for v in report["violations"]
        if v["severity"] != "note"
    ]
    if errors != case.findings:
        found.append(f"found {errors}, expected {case.findings}")
    # The first two lines are what a reader in a hurry sees.
    lines = [line for line in shown.splitlines() if re.match(r"PASS \([a-z ,]+\): |FAIL: |INCONCLUSIVE: |  to do: ", line)]
    if not lines or not re.match(rf"{case.verdict.upper()}\b", lines[0]):
        found.append("the terminal does not begin with the verdict")
    if case.verdict == "inconclusive" and (len(lines) < 2 or not lines[1].startswith("  to do: ")):
        found.append("the terminal's second line is not what to do")
    return found


def audit(case, options, folder):
    """Runs the case; its complaints, and what was printed."""
    # Without the loader's path the program might not start at all.
    words = {"{libcupti}": libcupti() or "libcupti.so", "{loader}": "LD_LIBRARY_PATH=" + os.environ.get("LD_LIBRARY_PATH", "")}
    report = folder / "report.json"
    command = [
        options.capgate, "audit", "--color=never", "--out", str(report), "--trace", str(folder / "trace"), *case.audit, "--",
        *(words.get(word, word) for word in [*case.before, options.program, *case.program]),
    ]  # fmt: skip
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | case.environment, start_new_session=True,
    )  # fmt: skip
    try:
        out, err = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # the program as well
        out, err = process.communicate()
        return [f"not done after {LIMIT} s"], f"$ {' '.join(command)}\n{out}{err}"
    printed = f"$ {' '.join(command)}\n{out}{err}"
    if not report.exists():
        return [f"no report, exit code {process.returncode}"], printed
    return differences(case, process.returncode, json.loads(report.read_text()), err), printed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--capgate", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--only", action="append", metavar="CASE")
    parser.add_argument("--out", type=Path, help="keeps reports and traces, a folder a case")
    options = parser.parse_args()
    if not has_gpu():
        print("no GPU here")
        return NO_GPU

    failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        for case in CASES:
            if options.only and case.name not in options.only:
                continue
            folder = (options.out or Path(temporary)) / re.sub(r"\W+", "_", case.name)
            folder.mkdir(parents=True, exist_ok=True)
            found, printed = audit(case, options, folder)
            failed += bool(found)
            print(f"{'FAILED' if found else 'ok    '} {case.name}", flush=True)
            if found:
                print("".join(f"    {text}\n" for text in found) + printed, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
