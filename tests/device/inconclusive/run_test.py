#!/usr/bin/env python3
"""What the holding of reports against the cases has to notice; needs no GPU."""

import copy
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from run import CASES, Case, differences

CASE = Case(
    "killed", ["killed"], 1, "fail", reasons=["signal 9"], remedy="audit it again", findings=["error host-sync wait"]
)  # fmt: skip
REPORT = {
    "verdict": "fail",
    "reasons": [{"text": "x died of signal 9 (Killed)", "remedy": "then audit it again"}],
    "coverage": {"processes": [{"attached": True}]},
    "violations": [{"severity": "error", "rule": "host-sync", "location": {"function": "(anonymous namespace)::wait(int)"}}],
}
SHOWN = "the program's own line\nFAIL: CAPTURE DIES at f.cu:3 wait() - 1 error: x\n  worst:   host-sync\n"


class Differences(unittest.TestCase):
    def setUp(self):
        self.case, self.report = copy.deepcopy(CASE), copy.deepcopy(REPORT)

    def found(self, exit_code=1, shown=SHOWN):
        return "\n".join(differences(self.case, exit_code, self.report, shown))

    def test_as_it_should_be(self):
        self.assertEqual(self.found(), "")

    def test_exit_code_and_verdict(self):
        self.assertIn("exit code 2, expected 1", self.found(2))
        self.report["verdict"] = "pass"
        self.assertIn("verdict pass, expected fail", self.found())

    def test_reason_and_remedy(self):
        self.report["reasons"][0]["remedy"] = "try harder"
        self.assertIn("its remedy does not say", self.found())
        self.report["reasons"] = [{"text": "something else", "remedy": " "}]
        self.assertIn("no reason says /signal 9/", self.found())
        self.assertIn("a reason without a remedy: something else", self.found())

    def test_reasons_of_a_pass(self):
        self.case.reasons = []
        self.assertIn("reasons where none is expected", self.found())

    def test_findings(self):
        self.report["violations"].append(self.report["violations"][0] | {"rule": "host-poll", "severity": "warning"})
        self.assertIn("warning host-poll wait", self.found())
        self.report["violations"] = []
        self.assertIn("found [], expected ['error host-sync wait']", self.found())

    def test_watched_or_not(self):
        self.report["coverage"]["processes"] = []
        self.assertIn("no process was watched", self.found())
        self.case.attached = None
        self.assertEqual(self.found(), "")

    def test_first_lines(self):
        self.assertIn("does not begin with the verdict", self.found(shown="  to do: capgate\n"))
        self.report["verdict"] = self.case.verdict = "pass"
        self.assertIn("does not begin with the verdict", self.found())
        self.assertNotIn("does not begin", self.found(shown="PASS (capture only): 1 graph captured\n"))
        self.case.verdict = self.report["verdict"] = "inconclusive"
        self.assertIn("second line is not what to do", self.found(shown="INCONCLUSIVE: x\n  worst: y\n"))
        self.assertEqual(self.found(shown="INCONCLUSIVE: x\n  to do:   y\n"), "")

    def test_the_table(self):
        self.assertEqual(len({case.name for case in CASES}), len(CASES))
        for case in CASES:
            with self.subTest(case=case.name):
                self.assertEqual(case.exit_code == 0, case.verdict == "pass")
                self.assertEqual(case.verdict == "pass", not case.reasons)


if __name__ == "__main__":
    unittest.main()
