#!/usr/bin/env python3
"""What the judging of recorded traces has to notice, with a program that plays `capgate analyze`."""

import json
import os
import stat
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import judge_recorded

PASS = json.dumps({"verdict": "pass", "violations": []})
ANALYZE = f"""#!{sys.executable}
import sys
text = open(sys.argv[2]).read()
if text == "broken":
    sys.exit("no trace")
print(text, end="")
"""


class Recorded(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.traces = Path(folder.name) / "traces"
        (self.traces / "cpp").mkdir(parents=True)
        self.capgate = os.path.join(folder.name, "capgate")
        Path(self.capgate).write_text(ANALYZE)
        os.chmod(self.capgate, stat.S_IRWXU)
        self.known = {p["name"]: p for p in judge_recorded.programs("build")}

    def record(self, trace, report, name="cpp/masked_count.clean"):
        (self.traces / f"{name}.cgtrace").write_text(trace)
        if report is not None:
            (self.traces / f"{name}.json").write_text(report)
        there = sorted(str(p.relative_to(self.traces).with_suffix("")) for p in self.traces.rglob("*.cgtrace"))
        self.list(*there)

    def list(self, *names):
        (self.traces / "recorded.txt").write_text("".join(f"{name}\n" for name in names))

    def complaints(self):
        return judge_recorded.judge_all(self.capgate, self.traces, self.known)[1]

    def test_as_recorded(self):
        self.record(PASS, PASS)
        self.assertEqual(self.complaints(), [])

    def test_one_byte_differs(self):
        self.record(PASS, PASS + " ")
        self.assertRegex(self.complaints()[0], "another report, line 1")

    def test_same_bytes_but_not_what_the_source_expects(self):
        self.record(PASS, PASS, "cpp/masked_count.faulty")
        self.assertTrue(any("missing: error sync-copy" in c for c in self.complaints()))

    def test_report_missing_program_unknown_trace_unreadable(self):
        self.record(PASS, None)
        self.assertRegex(self.complaints()[0], "is not committed")
        self.record(PASS, PASS)
        self.record(PASS, PASS, "cpp/nobody.clean")
        self.assertRegex(self.complaints()[0], "no program of that name")
        (self.traces / "cpp/nobody.clean.cgtrace").unlink()
        self.list("cpp/masked_count.clean")
        self.record("broken", PASS)
        self.assertRegex(self.complaints()[0], "capgate analyze: no trace")

    def test_recorded_from_another_source(self):
        source = judge_recorded.ROOT / "tests/corpus/cpp/masked_count.cu"
        number = next(n for n, line in enumerate(source.read_text().splitlines(), 1) if "EXPECT:" in line)
        text = source.read_text().splitlines()[number - 1]
        violation = {
            "rule": "lazy-load", "severity": "note", "message": "m", "suppressed": None,
            "location": {"file": "tests/corpus/cpp/masked_count.cu", "line": number, "function": "f"},
            "source": [{"line": number - 1, "text": "anything"}, {"line": number, "text": text}],
        }  # fmt: skip
        same = json.dumps({"verdict": "pass", "violations": [violation]})
        self.record(same, same)
        self.assertEqual(self.complaints(), [])
        violation["source"][1]["text"] = "another_call();"
        moved = json.dumps({"verdict": "pass", "violations": [violation]})
        self.record(moved, moved)
        self.assertEqual(len(self.complaints()), 1)
        self.assertRegex(self.complaints()[0], rf"recorded from another .*: line {number} was 'another_call\(\);'")

    def test_reports_written_anew(self):
        self.record(PASS, "old", "cpp/masked_count.clean")
        self.assertEqual(judge_recorded.judge_all(self.capgate, self.traces, self.known, update=True)[1], [])
        self.assertEqual(self.complaints(), [])

    def test_a_trace_that_is_listed_is_demanded_and_one_that_is_not_yet_recorded_is_not(self):
        self.record(PASS, PASS)
        self.list("cpp/masked_count.clean", "cpp/split_layers.clean")
        self.assertRegex(self.complaints()[0], "split_layers.clean.cgtrace: recorded.txt lists it, and it is not there")
        self.list("cpp/masked_count.clean")
        self.assertEqual(self.complaints(), [])

    def test_a_trace_that_is_not_listed(self):
        self.record(PASS, PASS)
        self.list()
        self.assertRegex(self.complaints()[0], "masked_count.clean.cgtrace: recorded.txt does not list it")
        judge_recorded.judge_all(self.capgate, self.traces, self.known, update=True)
        self.assertEqual(self.complaints(), [])

    def test_too_large(self):
        self.record(PASS, PASS)
        with open(self.traces / "cpp/large.json", "wb") as file:
            file.truncate(judge_recorded.MOST_BYTES)
        self.assertRegex(self.complaints()[0], "MiB of recordings")


if __name__ == "__main__":
    unittest.main()
