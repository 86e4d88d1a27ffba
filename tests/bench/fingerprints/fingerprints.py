#!/usr/bin/env python3
"""How many findings are known again from one commit to the next, over the history of a public engine.

Each of the last COMMITS commits that touch the engine's CUDA sources is written to a folder of its own, with a new name, and linted.
The engine captures nothing; a driver made here puts each of its entry points into a capture, so that what the engine does to the host is a
finding. Of two neighbouring commits, a finding that lies on a line which the commit left as it was must be there again: with the same id,
and known where the older report is the baseline. The sources say which line that is, and capgate has no part in it.

  fingerprints.py --capgate build/release/bin/capgate --repository calm.git --source src/infer.cu [--commits 201] [--out table.md]
"""

import argparse
import collections
import concurrent.futures
import difflib
import json
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

ENTRY = re.compile(r'^extern "C" [\w* ]+?\b(\w+)\(([^)]*)\) *\{', re.MULTILINE)


def git(repository, *words, text=True):
    return subprocess.run(["git", "-C", str(repository), *words], capture_output=True, text=text, check=True).stdout


def driver(source, text):
    """A file that captures each entry point of the engine."""
    lines = [f'#include "{source}"', ""]
    for name, parameters in ENTRY.findall(text):
        names = [re.search(r"(\w+)$", one.strip()).group(1) for one in parameters.split(",") if one.strip() not in ("", "void")]
        lines += [
            f"void captured_{name}(cudaStream_t capgate_stream{', ' if names else ''}{parameters if names else ''}) {{",
            "  cudaGraph_t capgate_graph;",
            "  cudaStreamBeginCapture(capgate_stream, cudaStreamCaptureModeGlobal);",
            f"  {name}({', '.join(names)});",
            "  cudaStreamEndCapture(capgate_stream, &capgate_graph);",
            "}",
            "",
        ]
    return "\n".join(lines)


def lint(options, commit):
    """The texts and the findings of a commit; nothing where it does not have the source."""
    with tempfile.TemporaryDirectory(prefix=f"checkout-{commit[:7]}-") as folder:
        folder = pathlib.Path(folder)
        archive = folder / "tree.tar"
        archive.write_bytes(git(options.repository, "archive", commit, text=False))
        with tarfile.open(archive) as tree:
            tree.extractall(folder / "work", filter="data")
        work = folder / "work"
        source = work / options.source
        if not source.exists():
            return None
        unit = work / "capgate_driver.cu"
        unit.write_text(driver(options.source, source.read_text(encoding="utf-8")), encoding="utf-8")
        out = folder / "lint.json"
        command = [
            options.capgate,
            "lint",
            unit,
            "--root",
            work,
            "--no-cache",
            "--jobs",
            "1",
            "--out",
            out,
            "--",
            "-std=c++17",
            f"-I{source.parent}",
        ]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, cwd=folder)
        if not out.exists():
            sys.exit(f"{commit}: lint wrote no report: {done.stderr}")
        report = json.loads(out.read_text(encoding="utf-8"))
        kept = options.reports / f"{commit}.json"
        kept.write_bytes(out.read_bytes())
        findings = [fault for fault in report["violations"] if fault["severity"] != "note" and fault["location"]["file"] != unit.name]
        names = {fault["location"]["file"] for fault in findings}
        texts = {name: (work / name).read_text(encoding="utf-8").splitlines() for name in names if (work / name).is_file()}
        texts[options.source] = source.read_text(encoding="utf-8").splitlines()
        # A later toolkit lacks what an old commit uses: the rest of the file is looked at all the same.
        parsed = not report["coverage"]["files_failed"]
        return {"parsed": parsed, "commit": commit, "findings": findings, "texts": texts, "report": kept}


def kept_lines(before, after):
    """Line numbers of `before` that `after` still has, and where."""
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    return {a + i + 1: b + i + 1 for a, b, size in matcher.get_matching_blocks() for i in range(size)}


def place(finding, line):
    at = finding["location"]
    return finding["rule"], at["file"], line, finding["details"].get("callee", finding.get("api"))


def states(options, before, after):
    """Of each finding of `after` whether it is new where `before` is the baseline."""
    command = [options.capgate, "export", after["report"], "--baseline", before["report"], "--format", "sarif"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True)
    results = json.loads(done.stdout)["runs"][0]["results"]
    return {one["partialFingerprints"]["capgateId/v1"]: one["baselineState"] for one in results}


def compare(options, before, after):
    """What one commit did to the findings."""
    count = collections.Counter()
    there = collections.defaultdict(list)
    for finding in after["findings"]:
        there[place(finding, finding["location"]["line"])].append(finding)
    lines = {name: kept_lines(text, after["texts"][name]) for name, text in before["texts"].items() if name in after["texts"]}
    state = states(options, before, after)
    old = set()
    for finding in before["findings"]:
        line = finding["location"]["line"]
        now = lines.get(finding["location"]["file"], {}).get(line)
        same = [one for one in there.get(place(finding, now), []) if one["id"] not in old]
        if not now or not same:
            count["line edited or gone"] += 1
            continue
        same.sort(key=lambda one: one["id"] != finding["id"])
        old.add(same[0]["id"])
        count["moved" if now != line else "stayed"] += 1
        if same[0]["id"] != finding["id"]:
            count["other id"] += 1
        if state[same[0]["id"]] == "new":
            count["lost wrongly"] += 1
            print(before["commit"][:10], after["commit"][:10], *place(finding, f"{line} -> {now}"), finding["location"]["function"], "->",
                  same[0]["location"]["function"], file=sys.stderr)  # fmt: skip
    for finding in after["findings"]:
        if finding["id"] not in old:
            count["new rightly" if state[finding["id"]] == "new" else "known, line edited"] += 1
    return count


COLUMNS = ["stayed", "moved", "lost wrongly", "other id", "new rightly", "known, line edited", "line edited or gone"]


def table(rows, total):
    """Of the commits that did more than leave findings where they were."""
    lines = ["| commit | " + " | ".join(COLUMNS) + " |", "| --- |" + " ---: |" * len(COLUMNS)]
    for commit, count in [*rows, ("all", total)]:
        if commit == "all" or any(count[name] for name in COLUMNS[1:]):
            lines.append(f"| {commit[:10]} | " + " | ".join(f"{count[name]:,}" if count[name] else "" for name in COLUMNS) + " |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--capgate", required=True, type=pathlib.Path)
    parser.add_argument("--repository", required=True, type=pathlib.Path)
    parser.add_argument("--source", required=True)
    parser.add_argument("--commits", type=int, default=201)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    options.capgate = options.capgate.resolve()
    folder = str(pathlib.PurePath(options.source).parent)
    commits = git(
        options.repository, "log", "--format=%H", f"-{options.commits}", "HEAD", "--", f"{folder}/*.cu", f"{folder}/*.cuh", f"{folder}/*.h"
    )
    commits = commits.split()[::-1]
    rows = []
    total = collections.Counter()
    without = parsed = 0
    last = None
    with tempfile.TemporaryDirectory() as reports, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        options.reports = pathlib.Path(reports)
        for number, result in enumerate(pool.map(lambda commit: lint(options, commit), commits), 1):
            print(f"\r{number} of {len(commits)}", end="", file=sys.stderr)
            if result is None:
                without += 1
                continue
            parsed += result["parsed"]
            if last:
                rows.append((result["commit"], compare(options, last, result)))
                total += rows[-1][1]
            last = result
    print(file=sys.stderr)
    head = git(options.repository, "rev-parse", "--short=10", "HEAD").strip()
    text = "\n".join([
        f"{len(commits)} commits up to {head}, {without} of them without {options.source}: {len(rows)} pairs of neighbours; this toolkit parses "
        f"{parsed} as a whole.",
        "", *table(rows, total), "",
    ])  # fmt: skip
    print(text)
    if options.out:
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
