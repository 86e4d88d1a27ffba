#!/usr/bin/env python3
"""`capgate lint` over this project's own CUDA programs.

    lint_programs.py --build BUILD --capgate PROGRAM --cache DIR repository|twins

repository  What the project means to be right has no error, every file parses and every function in a region is judged:
            the folders of CLEAN. Left out are tests/corpus (faulty on purpose: `twins`), and tests/device and tests/bench,
            whose programs make calls that a capture refuses in order to see it refuse them.
twins       tests/corpus/cpp: every fault that sources show is found in the faulty twin of a program, in the line that says
            so, no clean twin has an error or a warning, and what a run on a GPU found there too merges into one violation.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CLEAN = ("kernels", "engine", "examples", "tests/healthy")

sys.path.insert(0, str(ROOT / "tests/corpus"))
from expectations.source import read_expected, read_options  # noqa: E402

# What the static pass can know of a line by itself.
STATIC = {"host-sync", "host-poll", "sync-copy", "pageable-copy", "device-alloc", "host-alloc", "default-stream", "host-pointer",
          "host-node", "refused-call"}  # fmt: skip
# Faults that the sources show and the report alone does not call an error: only a run tells whether a warm-up came first,
# or CUDA accepted the allocation.
MILDER = {"arena_regrowth", "cublas_handle_in_capture", "pinned_in_capture"}
# Graphs that are built node by node, without a region. A node over a local of the function that adds it is found all the
# same; that device memory is freed under a node, only a run shows.
ADDED_BY_HAND = {
    "builder_frees_scratch", "built_from_heap", "driver_graph_table_freed", "node_given_new_input", "request_table_update",
}  # fmt: skip
# What the sources show under another name than the run: a library's function, a refusal of its own rule.
OTHERWISE_NAMED = ("cublas_handle_in_capture", "stream_callback")
# A fault of a value or an object that a run does not see: the branch, the launch, the buffer behind the labelled call.
BEYOND_A_RUN = {"host-branch", "device-sized", "local-scratch"}

_LINE = re.compile(r"^(?P<file>[^\s:]+):(?P<line>\d+):\d+: (error|warning|note): .+ \[[a-z-]+\]$")
_STEP = re.compile(r"^(?P<file>[^\s:]+):(?P<line>\d+)(:\d+)?: note: .+$")


class Lint:
    def __init__(self, arguments):
        self.capgate, self.build, self.cache = arguments.capgate, pathlib.Path(arguments.build), arguments.cache
        self.failures = []

    def fail(self, text):
        self.failures.append(text)

    def database(self):
        entries = json.loads((self.build / "compile_commands.json").read_text(encoding="utf-8"))
        return [entry for entry in entries if pathlib.Path(entry["file"]).is_relative_to(ROOT)]

    def run(self, folder, *files):
        with tempfile.TemporaryDirectory() as out:
            report = pathlib.Path(out) / "lint.json"
            command = [self.capgate, "lint", "-p", folder, "--cache-dir", self.cache, "--out", report, *files]
            done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, cwd=ROOT)
            if not report.exists():
                raise SystemExit(f"capgate lint wrote no report: {done.stderr}")
            self.check_lines(done.stdout)
            return done.returncode, json.loads(report.read_text(encoding="utf-8")), done.stdout

    def check_lines(self, text):
        """Each finding and each step in the form that editors jump by, at a line that there is."""
        for line in text.splitlines():
            if line.startswith(" ") or not re.match(r"^[^\s:]+:\d+", line):
                continue
            match = _LINE.match(line) or _STEP.match(line)
            if not match:
                self.fail(f"not in gcc's form: {line}")
                continue
            source = ROOT / match["file"]
            if not source.exists() or int(match["line"]) > len(source.read_text(encoding="utf-8").splitlines()):
                self.fail(f"points nowhere: {line}")


def is_clean(source):
    return any(pathlib.Path(source).is_relative_to(ROOT / folder) for folder in CLEAN)


def is_batch(source):
    """Sources that are compiled together: the database has the batch."""
    if "/Unity/unity_" not in source:
        return False
    return any(map(is_clean, re.findall(r'^#include "(.+)"$', pathlib.Path(source).read_text(encoding="utf-8"), re.MULTILINE)))


def repository(lint):
    sources = [entry["file"] for entry in lint.database()]
    folders = [folder for folder in CLEAN if any(pathlib.Path(source).is_relative_to(ROOT / folder) for source in sources)]
    code, report, text = lint.run(lint.build, *folders, *filter(is_batch, sources))
    coverage = report["coverage"]
    print(f'{coverage["files_parsed"]} files, {len(coverage.get("regions", []))} regions: {report["verdict"]}')
    if code != 0 or report["verdict"] != "pass" or coverage["files_failed"] or not coverage.get("regions"):
        lint.fail(f"exit code {code}, verdict {report['verdict']}:\n{text}")


def twin_reports(lint, variant):
    """The report of each program's twin. A database holds both twins of a source: each kind gets one of its own."""
    entries = [e for e in lint.database() if "/tests/corpus/cpp/" in e["file"] and f".{variant}.dir/" in json.dumps(e)]
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "compile_commands.json").write_text(json.dumps(entries), encoding="utf-8")
        _, whole, _ = lint.run(folder)
        if whole["coverage"]["files_failed"] or whole["coverage"]["files_parsed"] != len(entries):
            lint.fail(f"{variant} twins: not every file was parsed: {whole['reasons']}")
        names = sorted({pathlib.Path(e["file"]).stem for e in entries})
        return {name: lint.run(folder, *regions_by_name(name), ROOT / f"tests/corpus/cpp/{name}.cu")[1] for name in names}


def regions_by_name(name):
    """The NVTX ranges that are steps, as the command line of the audit names them."""
    words = read_options(ROOT / f"tests/corpus/cpp/{name}.cu").get("AUDIT", [])
    return [word for at, word in enumerate(words) if word == "--region" or words[max(at - 1, 0)] == "--region"]


def names_its_range_late(source):
    """The name of its range is made when it runs."""
    return "nvtxRangePushA(name.c_str())" in source.read_text(encoding="utf-8")


def check_faulty(lint, name, report):
    source = ROOT / f"tests/corpus/cpp/{name}.cu"
    wanted = [f for f in read_expected(source, "faulty").findings if f.required and set(f.rules) & (STATIC | {"device-alloc"})]
    # Between steps there is no region: what a run counts a step is no fault of the source.
    wanted = [] if names_its_range_late(source) else [f for f in wanted if f.severities == ["error"] or report["violations"]]
    found = [v for v in report["violations"] if not v["suppressed"]]
    explained = set()
    for fault in wanted:
        hits = [i for i, v in enumerate(found) if v["rule"] in fault.rules and fault.first_line <= v["location"]["line"] <= fault.last_line]
        explained.update(hits)
        mild = name in MILDER or fault.severities != ["error"]
        if not any(mild or found[i]["severity"] == "error" for i in hits):
            lint.fail(f"{name}: {'|'.join(fault.rules)} at line {fault.first_line} was not found")
    for i, violation in enumerate(found):
        place = violation["location"]
        if i in explained or violation["severity"] == "note" or violation["rule"] in BEYOND_A_RUN:
            continue
        near = [f for f in wanted if set(f.rules) & {violation["rule"]} and abs(f.first_line - place["line"]) <= 4]
        if not near:
            lint.fail(f"{name}: unexpected {violation['rule']} at {place['file']}:{place['line']}: {violation['message']}")
    return len(wanted)


def runtime_report(name):
    kept = HERE / f"golden/runtime/{name}.json"
    return kept if kept.exists() else ROOT / f"tests/traces/cpp/{name}.faulty.json"


def check_merged(lint, name, static):
    """One fault seen both ways is one violation."""
    with tempfile.TemporaryDirectory() as folder:
        here = pathlib.Path(folder)
        (here / "static.json").write_text(json.dumps(static), encoding="utf-8")
        runtime = runtime_report(name)
        command = [lint.capgate, "merge", runtime, here / "static.json", "--out", here / "merged.json"]
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
        if done.returncode:
            lint.fail(f"{name}: merge: {done.stderr}")
            return
        merged = json.loads((here / "merged.json").read_text(encoding="utf-8"))["violations"]
    seen_by_run = json.loads(runtime.read_text(encoding="utf-8"))["violations"]
    both = [v for v in merged if sorted(v["evidence"]) == ["runtime", "static"]]
    faults = [v for v in seen_by_run if v["rule"] in STATIC | {"capture-invalidated"} and v["severity"] != "note"]
    if len(both) < len(faults) or not both:
        alone = [(v["rule"], v["location"], v["evidence"]) for v in merged if len(v["evidence"]) == 1]
        lint.fail(f"{name}: {len(both)} of {len(faults)} faults have both kinds of evidence; alone: {alone}")


def twins(lint):
    for name, report in twin_reports(lint, "clean").items():
        if name in ADDED_BY_HAND:
            continue  # no region in the sources, and so nothing that lint could pass
        for violation in report["violations"]:
            if violation["severity"] != "note" and not violation["suppressed"]:
                place = violation["location"]
                lint.fail(f"{name}, clean: {violation['rule']} at line {place['line']}: {violation['message']}")
        # A range whose name is made at run time is a region to a run alone.
        unseen = names_its_range_late(ROOT / f"tests/corpus/cpp/{name}.cu") and not report["coverage"]["regions"]
        if report["verdict"] != ("inconclusive" if unseen else "pass"):
            lint.fail(f"{name}, clean: {report['verdict']} {report['reasons']}")
    faulty = twin_reports(lint, "faulty")
    count = sum(check_faulty(lint, name, report) for name, report in faulty.items())
    recorded = sorted([path.stem for path in (HERE / "golden/runtime").glob("*.json")] + list(OTHERWISE_NAMED))
    for name in recorded:
        check_merged(lint, name, faulty[name])
    print(f"{len(faulty)} programs, {count} faults that sources show, {len(recorded)} merged with a run's report")
    if count < 20 or len(recorded) < 8:
        lint.fail("fewer faults or recorded reports than there have been")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--capgate", required=True)
    parser.add_argument("--cache", required=True)
    parser.add_argument("what", choices=("repository", "twins"))
    arguments = parser.parse_args()
    lint = Lint(arguments)
    {"repository": repository, "twins": twins}[arguments.what](lint)
    for failure in lint.failures:
        print(failure)
    return 1 if lint.failures else 0


if __name__ == "__main__":
    sys.exit(main())
