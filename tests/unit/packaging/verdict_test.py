"""What `pytest --capgate` makes of each committed report: never a pass over a fault, and never a failure of what is clean."""

import json
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "packaging/python"))
from capgate.verdict import judged  # noqa: E402


class Verdict(unittest.TestCase):
    def test_committed_reports(self):
        seen = set()
        for file in sorted((ROOT / "tests/traces").glob("*/*.json")):
            report = json.loads(file.read_text(encoding="utf-8"))
            seen.add(report["verdict"])
            with self.subTest(report=file.name):
                outcome = judged(report, (), completed=True)
                self.assertEqual(outcome.complaint is None, report["verdict"] == "pass", outcome)
                rules = {v["rule"] for v in report["violations"] if v["severity"] == "error" and not v["suppressed"]}
                if rules:
                    self.assertIsNone(judged(report, tuple(rules), completed=True).complaint)
                    self.assertIn("does not expect", judged(report, ("no-such-rule",), completed=True).complaint)
                else:
                    self.assertIn("no error of host-sync", judged(report, ("host-sync",), completed=True).complaint)
        self.assertEqual(seen, {"pass", "fail", "inconclusive"})

    def report(self, **coverage):
        return {"verdict": "inconclusive", "reasons": [{"text": "the reason"}], "violations": [], "coverage": coverage}

    def test_cuda_without_a_capture_is_nothing_to_judge(self):
        process = {"pid": 1, "attached": True, "events": 5, "events_dropped": 0}
        heard = judged(self.report(cupti="attached", processes=[process]), (), completed=True)
        self.assertEqual((heard.complaint, heard.captured, heard.why_not), (None, False, None))
        for deaf in (process | {"attached": False}, process | {"events_dropped": 3}):
            outcome = judged(self.report(cupti="attached", processes=[deaf]), (), completed=True)
            self.assertIn("the detector could not watch: the reason", outcome.complaint)
        outcome = judged(self.report(cupti="held-by:Nsight", processes=[process]), (), completed=True)
        self.assertIn("could not watch", outcome.complaint)

    def test_a_machine_without_a_driver_fails_no_test(self):
        outcome = judged(self.report(cupti="unavailable", processes=[]), (), completed=True)
        self.assertEqual((outcome.complaint, outcome.why_not), (None, "the reason"))
        self.assertIn("wrote no report", judged(None, (), completed=True).complaint)

    def test_a_test_that_failed_by_itself_is_not_blamed_twice(self):
        self.assertIsNone(judged(self.report(cupti="attached", captures_failed=1, processes=[]), (), completed=False).complaint)


if __name__ == "__main__":
    unittest.main()
