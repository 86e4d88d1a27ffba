#!/usr/bin/env python3
"""Plants faults into the captured regions of public code and counts how many `capgate lint` names, at their line and with their rule.

plant.py CHECKOUTS OUT REPORTS --capgate BIN [--count 40] [--seed 7] [--only NAME…]

REPORTS is the folder that lint.py wrote: its reports say where regions begin. Every fault goes into a copy of the code base.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

import code_bases
import faults
import sample

BEGIN = re.compile(r"cudaStreamBeginCapture(?:ToGraph)?\s*\(")
HEADERS = "#include <cuda_runtime.h>\n#include <mutex>\n#include <vector>\n"


def closing(text, start):
    """Position behind the bracket that closes the one at start; strings and comments in between are skipped."""
    depth, i = 0, start
    while i < len(text):
        if text.startswith("//", i):
            i = text.find("\n", i)
        elif text.startswith("/*", i):
            i = text.find("*/", i) + 1
        elif text[i] in "\"'":
            quote = text[i]
            i += 1
            while text[i] != quote:
                i += 2 if text[i] == "\\" else 1
        elif text[i] in "([{":
            depth += 1
        elif text[i] in ")]}":
            depth -= 1
            if depth == 0:
                return i + 1
        i += 1
    return -1


def insertion_point(text, call):
    """Behind the statement that holds the call at this position; None where that cannot be told from the text."""
    start = max(text.rfind(c, 0, call) for c in ";{}")
    head = re.sub(r"//[^\n]*|/\*.*?\*/|^\s*#[^\n]*", " ", text[start + 1 : call], flags=re.S | re.M)
    branch = re.search(r"\bif\s*\(", head)
    if branch is None:
        i = call
        while i < len(text) and text[i] != ";":
            i = closing(text, i) if text[i] in "([{" else i + 1
            if i <= 0:
                return None
        return i + 1
    opening = text.index("(", text.rindex("if", start, call))
    after = closing(text, opening)
    body = re.compile(r"\s*").match(text, after).end()
    end = closing(text, body) if text[body] == "{" else text.index(";", body) + 1
    return None if re.match(r"\s*else\b", text[end:]) else end


def first_argument(text, call):
    opening = text.index("(", call)
    inside = text[opening + 1 : closing(text, opening) - 1]
    depth = 0
    for i, c in enumerate(inside):
        depth += c in "([{"
        depth -= c in ")]}"
        if c == "," and depth == 0:
            return inside[:i].strip()
    return inside.strip()


def scope_point(text, before):
    """Behind the last #include above `before` that stands under no condition and in no bracket."""
    depth = brackets = 0
    point, at = None, 0
    for line in text[:before].splitlines(keepends=True):
        at += len(line)
        if re.match(r"\s*#\s*if", line):
            depth += 1
        elif re.match(r"\s*#\s*endif", line):
            depth -= 1
        elif re.match(r"\s*#\s*include", line) and depth == 0 and brackets == 0:
            point = at
        elif not re.match(r"\s*//|\s*\*|\s*/\*", line):
            brackets += line.count("{") - line.count("}")
    return point


def regions(base, reports):
    """(file, where to put the fault, where to put what it needs, stream) of the regions that begin in sources which were parsed as a whole."""
    report = json.loads(sample.reports_of(reports)[base.name].read_text())
    found, seen = [], set()
    names = {re.sub(r"^capture at ", "", region["name"]) for region in report["coverage"]["regions"]}
    broken = {m.group(1) for reason in report["reasons"] for m in [re.match(r"(\S+) was not parsed as a whole", reason["text"])] if m}
    for unit in base.units:
        if str(pathlib.Path(unit).relative_to(base.root)) in broken:
            continue
        text = pathlib.Path(unit).read_text(errors="surrogateescape")
        for match in BEGIN.finditer(text):
            lines = {text.count("\n", 0, match.start()) + 1 - back for back in range(3)}
            if not any(f"{pathlib.Path(unit).relative_to(base.root)}:{line}" in names for line in lines):
                continue
            stream = first_argument(text, match.start())
            point, scope = insertion_point(text, match.start()), scope_point(text, match.start())
            if point and scope and stream not in ("0", "nullptr", "NULL") and (unit, point) not in seen:
                seen.add((unit, point))
                found.append((unit, point, scope, stream))
    return found


def plant(base, planned, options):
    """Writes the copies of this code base and lints the changed units; returns (fault, place, unit, found) of each."""
    copy = options.out / base.name
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(base.root, copy, copy_function=os.link)
    expected, changed = [], []
    for unit in sorted({region[0] for region, *_ in planned}):
        text = pathlib.Path(unit).read_text(errors="surrogateescape")
        edits = []
        for region, fault, place, number in planned:
            if region[0] != unit:
                continue
            scope, inside = faults.placed(fault, place, number, region[3])
            scope, inside = (part.replace(faults.MARK, f"// planted {number}") for part in (scope, inside))
            edits.append((region[1], 1, "\n" + inside))
            edits.append((region[2], 0, scope))
        edits.append((min(region[2] for region, *_ in planned if region[0] == unit), -1, HEADERS))
        for at, _, more in sorted(edits, key=lambda edit: edit[:2], reverse=True):
            text = text[:at] + more + text[at:]
        target = copy / pathlib.Path(unit).relative_to(base.root)
        target.unlink()
        target.write_text(text, errors="surrogateescape")
        changed.append(str(target))
        for line, content in enumerate(text.splitlines(), 1):
            mark = re.search(r"// planted (\d+)$", content.rstrip())
            if mark:
                expected.append((int(mark.group(1)), str(target.relative_to(copy)), line))
    report = options.out / f"{base.name}.planted.json"
    command = [options.capgate, "lint", "--jobs", "1", "--no-cache", "--root", str(copy), "--out", str(report)] + changed + ["--"]
    command += [option.replace(str(base.root), str(copy)) for option in base.options]
    done = subprocess.run(command, capture_output=True, text=True)
    (options.out / f"{base.name}.planted.txt").write_text(done.stdout + done.stderr)
    result = json.loads(report.read_text())
    said = collections.defaultdict(set)
    for violation in result["violations"]:
        said[violation["location"]["file"], violation["location"]["line"]].add(violation["rule"])
    by_number = {number: (fault, place) for _, fault, place, number in planned}
    if result["coverage"]["files_parsed"] != len(changed):
        print(f"{base.name}: {len(changed) - result['coverage']['files_parsed']} planted units were not parsed", file=sys.stderr)
    for number, file, line in sorted(expected):
        fault, place = by_number[number]
        yield number, fault, place, f"{base.name}/{file}:{line}", said[file, line]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkouts", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("reports", type=pathlib.Path)
    parser.add_argument("--capgate", required=True)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--only", nargs="*", default=[])
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    bases = [base for base in code_bases.load(options.checkouts, options.only) if base.name in sample.reports_of(options.reports)]
    places = {base.name: regions(base, options.reports) for base in bases}
    dice = random.Random(options.seed)
    # Every fault once, then more of them by lot; each into a region by lot.
    wanted = list(faults.FAULTS) + [dice.choice(faults.FAULTS) for _ in range(options.count - len(faults.FAULTS))]
    everywhere = [(base, region) for base in bases for region in places[base.name]]
    planned = collections.defaultdict(list)
    for number, fault in enumerate(wanted[: options.count]):
        base, region = dice.choice([one for one in everywhere if not fault.cuda or one[1][0].endswith(".cu")])
        place = dice.choice(faults.PLACES[1:] if fault.lasting else faults.PLACES)
        planned[base.name].append((region, fault, place, number))
    print(f"{len(everywhere)} regions of {len(bases)} code bases can be planted into", file=sys.stderr)
    by_rule, by_place = collections.defaultdict(lambda: [0, 0]), collections.defaultdict(lambda: [0, 0])
    for base in bases:
        for number, fault, place, where, said in plant(base, planned[base.name], options) if planned[base.name] else ():
            found = bool(said & set(fault.rules))
            for table, key in ((by_rule, fault.rules[0]), (by_place, place)):
                table[key][0] += found
                table[key][1] += 1
            print(
                f"{'found' if found else 'MISSED'} {number} {'/'.join(fault.rules)} in {place}: {where}"
                + ("" if found else f" (said: {', '.join(sorted(said)) or 'nothing'})"),
                flush=True,
            )
    for title, table in (("rule", by_rule), ("place", by_place)):
        print(f"\n| {title} | planted | found |\n| --- | --- | --- |")
        for key in sorted(table):
            print(f"| {key} | {table[key][1]} | {table[key][0]} |")
    found, total = sum(row[0] for row in by_rule.values()), sum(row[1] for row in by_rule.values())
    print(f"\nrecall {found}/{total} = {found / max(total, 1):.2f}")


if __name__ == "__main__":
    main()
