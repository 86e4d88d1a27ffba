#!/usr/bin/env python3
"""Judges every recorded trace again: the report must be the committed one, byte for byte, and what the source expects.

A trace lies under the name of its program, as `tests/corpus/expect.py list` gives it: cpp/masked_count.faulty.cgtrace, and
beside it cpp/masked_count.faulty.json, the report that the audit on the GPU wrote. What a program must raise is read in this
checkout's source of it, which has to be the one that was recorded. recorded.txt beside them lists every trace, so that one that
is lost is missed; a program that it does not list is only said to be not recorded yet. Ends with 77 when nothing is recorded.
"""

import argparse
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "corpus"))

from expectations.judge import judge
from expectations.programs import ROOT, programs
from expectations.source import read_expected

LIST = "recorded.txt"
MOST_BYTES = 12 << 20
NOTHING_RECORDED = 77


def first_difference(old, new):
    for number, (a, b) in enumerate(zip(old.splitlines(), new.splitlines()), start=1):
        if a != b:
            return f"line {number}: committed {a.strip()[:120]}, now {b.strip()[:120]}"
    return f"{len(old.splitlines())} lines committed, {len(new.splitlines())} now"


def changed_since(report, root):
    """Files of this checkout that say something else than the report quotes, the line named."""
    found = {}
    for violation in report["violations"]:
        path, number = violation["location"].get("file", ""), violation["location"].get("line", 0)
        quoted = [line["text"] for line in violation.get("source", []) if line["line"] == number]
        if not path.startswith("tests/") or not quoted or path in found:
            continue
        here = (root / path).read_text(encoding="utf-8").splitlines() if (root / path).exists() else []
        now = here[number - 1] if 0 < number <= len(here) else ""
        if now.strip() != quoted[0].strip():
            found[path] = f"recorded from another {path}: line {number} was {quoted[0].strip()!r}, is {now.strip()!r}; record it again"
    return list(found.values())


def judge_trace(capgate, trace, program, update=False):
    """What is wrong with one trace, one sentence each. `update` writes the report anew instead of comparing it."""
    committed = trace.with_suffix(".json")
    if program is None:
        return [f"{trace}: no program of that name in the corpus"]
    if not update and not committed.exists():
        return [f"{trace}: its report {committed.name} is not committed"]
    analyzed = subprocess.run([capgate, "analyze", str(trace), "--out", "-"], capture_output=True, timeout=120)
    if analyzed.returncode not in (0, 1, 2, 3) or not analyzed.stdout:
        return [f"{trace}: capgate analyze: {analyzed.stderr.decode(errors='replace').strip()}"]
    complaints = []
    new = analyzed.stdout
    if update:
        committed.write_bytes(new)
    elif (old := committed.read_bytes()) != new:
        complaints.append(f"{trace}: another report, {first_difference(old.decode(), new.decode())}")
    report = json.loads(new)
    # Lines that moved would only be reported as findings at the wrong place.
    wrong = changed_since(report, ROOT) or judge(report, read_expected(ROOT / program["source"], program["variant"]))
    return complaints + [f"{trace}: {text}" for text in wrong]


def listed_and_there(folder, there):
    """Where the list of traces and the traces themselves differ, one sentence each."""
    listed = (folder / LIST).read_text(encoding="utf-8").split() if (folder / LIST).exists() else []
    lost = [f"{folder / name}.cgtrace: {LIST} lists it, and it is not there" for name in sorted(set(listed) - set(there))]
    return lost + [f"{folder / name}.cgtrace: {LIST} does not list it; --update does" for name in sorted(set(there) - set(listed))]


def judge_all(capgate, folder, known, update=False):
    traces = sorted(folder.rglob("*.cgtrace"))
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.suffix in (".cgtrace", ".json"))
    complaints = []
    if size > MOST_BYTES:
        complaints.append(f"{folder}: {size / (1 << 20):.1f} MiB of recordings, at most {MOST_BYTES >> 20}")
    with ThreadPoolExecutor(2) as pool:
        names = [str(trace.relative_to(folder).with_suffix("")) for trace in traces]
        if update:
            (folder / LIST).write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
        complaints += listed_and_there(folder, names)
        judged = pool.map(lambda pair: judge_trace(capgate, pair[0], known.get(pair[1]), update), zip(traces, names))
        for found in judged:
            complaints += found
    return traces, complaints


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--capgate", required=True)
    parser.add_argument("--traces", type=Path, default=HERE)
    parser.add_argument("--update", action="store_true", help=f"write the reports and {LIST} anew, for a look at the difference")
    options = parser.parse_args()
    known = {program["name"]: program for program in programs("build")}
    traces, complaints = judge_all(options.capgate, options.traces, known, options.update)
    if not traces:
        print(f"{options.traces}: no trace is recorded")
        return NOTHING_RECORDED
    missing = sorted(set(known) - {str(trace.relative_to(options.traces).with_suffix("")) for trace in traces})
    if missing:
        print(f"not recorded yet: {', '.join(missing)}")
    print("\n".join(complaints))
    print(f"{len(traces)} traces judged, {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
