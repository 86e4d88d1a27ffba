#!/usr/bin/env python3
"""How many findings keep their id from one commit to the next, over the history of a public engine.

Each of the last COMMITS commits that touch the engine's CUDA sources is written to a folder of its own, with a new name, and linted.
The engine captures nothing; a driver made here puts each of its entry points into a capture, so that what the engine does to the host is a
finding. Of two neighbouring commits, a finding that lies on a line which the commit left as it was must be there again, with the same id:
the sources say which line that is, and lint has no part in it.

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
        findings = [fault for fault in report["violations"] if fault["severity"] != "note" and fault["location"]["file"] != unit.name]
        names = {fault["location"]["file"] for fault in findings}
        texts = {name: (work / name).read_text(encoding="utf-8").splitlines() for name in names if (work / name).is_file()}
        texts[options.source] = source.read_text(encoding="utf-8").splitlines()
        # A later toolkit lacks what an old commit uses: the rest of the file is looked at all the same.
        parsed = not report["coverage"]["files_failed"]
        return {"parsed": parsed, "commit": commit, "findings": findings, "texts": texts}


def kept_lines(before, after):
    """Line numbers of `before` that `after` still has, and where."""
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    return {a + i + 1: b + i + 1 for a, b, size in matcher.get_matching_blocks() for i in range(size)}


def key(finding):
    at = finding["location"]
    return finding["rule"], at["file"], at["line"], at.get("column"), finding["details"].get("callee", finding.get("api"))


def compare(before, after, count):
    """Adds one pair of commits to the count."""
    count["pairs"] += 1
    there = collections.defaultdict(list)
    for finding in after["findings"]:
        rule, file, line, _, callee = key(finding)
        there[rule, file, line, callee].append(finding)
    lines = {name: kept_lines(text, after["texts"][name]) for name, text in before["texts"].items() if name in after["texts"]}
    ids = {finding["id"]: finding for finding in after["findings"]}
    for finding in before["findings"]:
        rule, file, line, _, callee = key(finding)
        count["findings"] += 1
        now = lines.get(file, {}).get(line)
        same = there.get((rule, file, now, callee), []) if now else []
        if not same:
            count["line changed or gone"] += 1
            count["of these, id still there"] += finding["id"] in ids
            continue
        count["line is still there"] += 1
        count["of these, moved"] += now != line
        if any(one["id"] == finding["id"] for one in same):
            count["same id"] += 1
            count["same id, moved"] += now != line
        else:
            other = ids.get(finding["id"])
            count["id lost" if other is None else "id taken by another finding"] += 1
            print(before["commit"][:10], after["commit"][:10], rule, file, f"{line} -> {now}", finding["location"]["function"][:60], "->",
                  same[0]["location"]["function"][:60], file=sys.stderr)  # fmt: skip


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
    count = collections.Counter()
    last = None
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for number, result in enumerate(pool.map(lambda commit: lint(options, commit), commits), 1):
            if result is None:
                count["commits without the source"] += 1
                continue
            count["commits that this toolkit parses as a whole"] += result["parsed"]
            if last:
                compare(last, result, count)
            last = result
            print(f"\r{number} of {len(commits)}", end="", file=sys.stderr)
    print(file=sys.stderr)
    head = git(options.repository, "rev-parse", "--short=10", "HEAD").strip()
    rows = ["commits that this toolkit parses as a whole", "commits without the source", "pairs", "findings", "line is still there", "of these, moved", "same id", "same id, moved", "id lost",
            "id taken by another finding", "line changed or gone", "of these, id still there"]  # fmt: skip
    table = [f"{len(commits)} commits up to {head}", "", "| | |", "| --- | --- |", *(f"| {row} | {count[row]:,} |" for row in rows), ""]
    text = "\n".join(table)
    print(text)
    if options.out:
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
