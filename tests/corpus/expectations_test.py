#!/usr/bin/env python3
"""The tool that holds reports against sources: it has to see each kind of difference, and every source has to parse."""

import copy
import sys
import tempfile
import tomllib
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from expectations.judge import function_name, judge
from expectations.programs import ROOT, programs
from expectations.source import BadExpectation, read_expected

SOURCE = """// CORPUS-AUDIT: --region step
void run() {
  work();
  cudaStreamSynchronize(s);  // EXPECT: host-sync error run
  // EXPECT: pageable-copy error run may host-pointer
  cudaMemcpyAsync(to,
                  from, 4, kind, s);
  // EXPECT-MAY: lazy-load warning
  launch();
}
"""


def violation(rule, line, severity="error", function="run()", file="x/cpp/program.cu"):
    location = {"file": file, "line": line, "function": function}
    return {"rule": rule, "severity": severity, "message": "m", "location": location, "suppressed": None}


RIGHT = {"verdict": "fail", "violations": [violation("host-sync", 4), violation("pageable-copy", 7)]}


class Judging(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "cpp" / "program.cu"
        self.path.parent.mkdir()
        self.path.write_text(SOURCE)
        self.report = copy.deepcopy(RIGHT)

    def complaints(self, variant="faulty"):
        return judge(self.report, read_expected(self.path, variant))

    def test_right_report(self):
        self.assertEqual(self.complaints(), [])

    def test_notes_and_suppressed_and_tolerated_findings_are_fine(self):
        self.report["violations"] += [
            violation("device-alloc", 3, "note"),
            violation("host-pointer", 6),
            violation("lazy-load", 9, "warning"),
            violation("host-poll", 3) | {"suppressed": {"reason": "r", "origin": "o"}},
        ]
        self.assertEqual(self.complaints(), [])

    def test_missing(self):
        del self.report["violations"][0]
        self.assertRegex(self.complaints()[0], "missing: error host-sync .*:4 run")

    def test_wrong_line_function_severity_rule_and_file(self):
        for change in (
            violation("host-sync", 3),
            violation("host-sync", 4, function="other"),
            violation("host-sync", 4, "note"),
            violation("host-poll", 4),
            violation("host-sync", 4, file="x/cpp/other.cu"),
        ):
            with self.subTest(change=change):
                self.report["violations"][0] = change
                self.assertIn("missing", self.complaints()[0])

    def test_unexpected(self):
        self.report["violations"].append(violation("device-alloc", 3, "warning"))
        self.assertRegex(self.complaints()[0], "unexpected: warning device-alloc")

    def test_tolerated_severity_only(self):
        self.report["violations"].append(violation("lazy-load", 9, "error"))
        self.assertRegex(self.complaints()[0], "unexpected: error lazy-load")

    def test_verdict(self):
        self.report["verdict"] = "pass"
        self.assertRegex(self.complaints()[0], "verdict pass, expected fail")

    def test_program_that_did_not_see_what_it_is_meant_to(self):
        self.report["run"] = {"exit_code": 0, "signal": None}
        self.assertEqual(self.complaints(), [])
        self.report["run"]["exit_code"] = 1
        self.assertRegex(self.complaints()[0], "ended with exit code 1: it did not see")
        self.report["run"] = {"exit_code": None, "signal": 11}
        self.assertRegex(self.complaints()[0], "ended with signal 11: it did not see")

    def test_clean_twin_says_nothing_but_notes(self):
        self.assertEqual(len(self.complaints("clean")), 3)
        self.report = {"verdict": "pass", "violations": [violation("lazy-load", 3, "note")]}
        self.assertEqual(self.complaints("clean"), [])

    def test_healthy_program_has_few_notes(self):
        self.report = {"verdict": "pass", "violations": [violation("lazy-load", n, "note") for n in range(6)]}
        self.assertRegex(self.complaints("healthy")[0], "6 notes, at most 5")

    def test_findings_in_a_library(self):
        self.path.write_text("# EXPECT-ELSEWHERE: *site/* 2\n")
        inside = [violation("host-sync", n, file="a/site/moe.py") for n in (1, 1, 2)]
        self.report = {"verdict": "fail", "violations": inside}
        self.assertEqual(self.complaints(), [])
        self.report["violations"] = inside[:2] + [violation("host-sync", 1)]
        self.assertRegex("\n".join(self.complaints()), "(?s)errors on 1 lines.*unexpected")

    def test_bad_comments(self):
        for text in (
            "f();  // EXPECT: host-sync error",
            "f();  // EXPECT: host-sync grave f",
            "f();  // EXPECT: Host error f",
            "// EXPECT: host-sync error f",
            "// EXPECT-VERDICT: perhaps",
            "f();",
        ):
            with self.subTest(text=text):
                self.path.write_text(text + "\n")
                with self.assertRaises(BadExpectation):
                    read_expected(self.path, "faulty")

    def test_function_names(self):
        for text, name in (
            ("run", "run"),
            ("ns::Class<int, T<2>>::run(std::vector<int> const&) const", "run"),
            ("void ns::run<float>(float*)", "run"),
            ("RunScope::~RunScope()", "~RunScope"),
            ("Model.forward", "forward"),
            ("(anonymous namespace)::run(int)", "run"),
            ("step[abi:cxx11](int)", "step"),
        ):
            self.assertEqual(function_name(text), name)


class Sources(unittest.TestCase):
    def test_every_program_says_what_it_expects(self):
        found = programs("build")
        self.assertEqual(len({p["name"] for p in found}), len(found))
        for program in found:
            with self.subTest(program=program["name"]):
                read_expected(ROOT / program["source"], program["variant"])

    def test_programs_for_two_gpus_say_so_and_end_by_name_where_there_is_one(self):
        for program in programs("build"):
            text = (ROOT / program["source"]).read_text(encoding="utf-8")
            ends_by_name = "need_two_devices()" in text or "skipped: needs two GPUs" in text
            with self.subTest(program=program["name"]):
                self.assertEqual(program["gpus"] > 1, ends_by_name)

    def test_enough_pairs(self):
        faulty = [p for p in programs("build") if p["variant"] == "faulty"]
        self.assertGreaterEqual(sum(p["kind"] == "cpp" for p in faulty), 24)
        self.assertGreaterEqual(sum(p["kind"] == "python" for p in faulty), 10)

    def test_every_rule_of_the_runtime_has_a_program_and_every_expectation_a_rule(self):
        catalogue = tomllib.loads((ROOT / "reports/catalogue/rules.toml").read_text(encoding="utf-8"))
        known = {rule["id"] for rule in catalogue["rule"]}
        expected = set()
        for program in programs("build"):
            for finding in read_expected(ROOT / program["source"], program["variant"]).findings:
                expected.update(finding.rules)
        self.assertEqual(expected - known, set())
        wanted = (
            "host-sync host-poll sync-copy pageable-copy device-alloc host-alloc lazy-load default-stream escaped-work "
            "unjoined-stream foreign-event cross-thread-call capture-invalidated empty-graph"
        )
        self.assertEqual(set(wanted.split()) - expected, set())


if __name__ == "__main__":
    unittest.main()
