#!/usr/bin/env python3
"""The catalogue says what is: each measured refusal has a row, a planned rule is raised nowhere, any other somewhere."""

import argparse
import json
import pathlib
import re
import sys
import tomllib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[4]
CATALOGUE = ROOT / "reports/catalogue"
# Families of the measured table whose calls are a step's work: accepted without a node, they are left out of the graph.
WORK = {"synchronous copy", "asynchronous copy", "host function"}


def toml(name):
    return tomllib.loads((CATALOGUE / name).read_text(encoding="utf-8"))


def names(call):
    """The APIs of one measured call: "cudaStreamWaitEvent(other, inside), work, join" is one, of cudaStreamWaitEvent."""
    if call.startswith("kernel on"):
        return ["cudaLaunchKernel"]
    bare = re.sub(r"\([^)]*\)", "", call)
    return [word for word in bare.split(", ") if re.fullmatch(r"cu(da)?[A-Z]\w*", word)]


def is_refused_or_left_out(cell):
    if cell["result"] != 0 or cell["status"] != "active" or cell["end"] != 0:
        return True
    work = cell["family"] in WORK or cell["call"].startswith(("kernel on", "cudaGraphLaunch"))
    return work and cell["nodes"] == 1


class Replacements(unittest.TestCase):
    def test_every_call_that_is_refused_or_left_out_has_a_row(self):
        cells = json.loads((ROOT / "docs/measured/legality.json").read_text(encoding="utf-8"))["cells"]
        wanted = {name for cell in cells if is_refused_or_left_out(cell) for name in names(cell["call"])}
        self.assertGreater(len(wanted), 50)
        rows = {api for row in toml("replacements.toml")["replacement"] for api in row["apis"]}
        self.assertEqual(sorted(wanted - rows), [])


def quoted(rule):
    return re.compile(rf'["\']{re.escape(rule)}["\']')


def sources(*folders):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".cpp", ".h", ".cu", ".cuh", ".py"} and path.parent != CATALOGUE:
                yield path, path.read_text(encoding="utf-8")


class Status(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rules = toml("rules.toml")["rule"]
        cls.recorded = {
            violation["rule"]
            for path in (ROOT / "tests/traces").rglob("*.json")
            for violation in json.loads(path.read_text(encoding="utf-8"))["violations"]
        }
        golden = [path.read_text(encoding="utf-8") for path in (ROOT / "tests/corpus_static/golden").glob("*.txt")]
        cls.linted = set(re.findall(r" \[([a-z-]+)\]$", "\n".join(golden), re.MULTILINE))
        # What the tests of the analysis compare its findings with: "error host-node step.cpp:10 run".
        cls.analysed = {
            rule for _, text in sources("tests/unit/analysis") for rule in re.findall(r'"(?:error|warning|note) ([a-z-]+)[ "]', text)
        }

    def test_a_planned_rule_is_named_by_no_producer(self):
        producers = list(sources("detector", "static_checks", "engine", "reports", "cli"))
        self.assertGreater(len(producers), 100)
        for rule in self.rules:
            if rule.get("status") != "planned":
                continue
            self.assertNotIn(rule["id"], self.recorded | self.linted | self.analysed)
            named = [str(path.relative_to(ROOT)) for path, text in producers if quoted(rule["id"]).search(text)]
            self.assertEqual(named, [], f"{rule['id']} is planned, and is named here")

    def test_every_other_rule_is_raised_by_whom_it_says(self):
        for rule in self.rules:
            if rule.get("status") == "planned":
                continue
            if "runtime" in rule["seen_by"]:
                raised = self.recorded | self.analysed | ({"unused-suppression"} & self.linted)
                self.assertIn(rule["id"], raised, "no recording and no test of the analysis shows it")
            if "static" in rule["seen_by"]:
                self.assertIn(rule["id"], self.linted, "no golden report of the static pass shows it")
            self.assertNotIn("engine", rule["seen_by"], f"{rule['id']}: no report of the engine holds findings")


class Recordings(unittest.TestCase):
    """Each situation that occurs in a recorded run has an entry of its own."""

    @classmethod
    def setUpClass(cls):
        cls.entries = {
            entry["id"]: entry
            for path in (CATALOGUE / "situations").glob("*.toml")
            for entry in tomllib.loads(path.read_text(encoding="utf-8"))["situation"]
        }
        cls.found = [
            (str(path.relative_to(ROOT)), violation)
            for path in sorted((ROOT / "tests/traces").rglob("*.json"))
            for violation in json.loads(path.read_text(encoding="utf-8"))["violations"]
        ]

    def test_no_violation_falls_to_a_generic_entry(self):
        self.assertGreater(len(self.found), 100)
        generic = [
            f"{path}: {violation['rule']} at {violation['location']['file']}:{violation['location']['line']}"
            for path, violation in self.found
            if violation.get("situation", "").split(".")[-1] in ("", "other")
        ]
        self.assertEqual(generic, [])

    def test_what_no_capture_refused_is_not_explained_by_a_refusal(self):
        for path, violation in self.found:
            between_replays = violation["phase"] == "step" and "region" not in violation["details"]
            if between_replays:
                self.assertNotRegex(self.entries[violation["situation"]]["why"], r"\b90\d\b", path)

    def test_a_read_is_never_made_asynchronous_and_an_upload_never_kept_on_the_device(self):
        for path, violation in self.found:
            reads = "from the device" in violation["details"].get("copy", "")
            reads = reads or violation["details"].get("direction") == "device to host"
            sends = "to the device" in violation["details"].get("copy", "")
            if reads and violation["rule"] in ("sync-copy", "host-sync"):
                self.assertNotIn("Async form", violation["hint"], path)
            if sends:
                self.assertNotIn("keep the value on the device", violation["hint"], path)

    def test_a_python_line_gets_python(self):
        for path, violation in self.found:
            if violation["location"]["file"].endswith(".py"):
                entry = self.entries[violation["situation"]]
                self.assertIn("python", entry, f"{path}: {entry['id']}")
                self.assertNotRegex(violation["hint"], r"cuda[A-Z]\w+\(|<<<", path)


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_known_args()
    sys.exit(unittest.main())
