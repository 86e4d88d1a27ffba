#!/usr/bin/env python3
"""From an audit to a gate, with the example: what examples/README.md shows, on a GPU.

    gated_decode_test.py --capgate CAPGATE --program gated_decode     ends with 77 without a GPU
"""

import argparse
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests/device"))

from gpu_here import NO_GPU, has_gpu

PATIENCE = 120
TOKENS = 24


def run(*words):
    return subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)


class FromAuditToGate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.report = cls.folder / "gate.json"
        cls.trial = run(OPTIONS.capgate, "audit", "--expect-bucket", "bs=1", "--out", cls.report, "--", OPTIONS.program, "--trial")
        cls.tokens = cls.trial.stdout

    def gated(self, report, *more):
        return run(OPTIONS.program, "--gate", report, *more)

    def refused(self, report, why):
        """Refused with one sentence that says which and what to run, and decoded without a graph when asked."""
        done = self.gated(report)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertRegex(done.stderr, rf"gated_decode: the gate is closed: .*{why}.*capgate audit")
        eager = self.gated(report, "--on-dirty", "eager")
        self.assertEqual((eager.returncode, eager.stdout), (0, self.tokens), eager.stderr)
        self.assertRegex(eager.stderr, "decoding without a graph")

    def changed(self, change):
        """A report like the trial's but for one thing."""
        report = json.loads(self.report.read_text())
        change(report)
        path = self.folder / "changed.json"
        path.write_text(json.dumps(report))
        return path

    def test_the_trial_passes(self):
        self.assertEqual(self.trial.returncode, 0, self.trial.stderr)
        self.assertRegex(self.tokens, rf"\A(\d+ ){{{TOKENS - 1}}}\d+\n\Z")
        report = json.loads(self.report.read_text())
        summary = report["summary"]
        self.assertEqual((report["verdict"], summary["errors"], summary["warnings"], report["reasons"]), ("pass", 0, 0, []))
        subject = report["subject"]
        self.assertEqual((subject["mode"], subject["buckets"]), ("full", ["bs=1"]))
        for what in ("build_id", "source_digest", "sm", "driver_branch"):
            self.assertTrue(subject[what], what)
        self.assertEqual(run(OPTIONS.capgate, "gate", self.report).returncode, 0)

    def test_behind_its_report_the_gate_opens(self):
        done = self.gated(self.report)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, self.tokens, ""))

    def test_no_report(self):
        self.refused(self.folder / "missing.json", "missing.json")

    def test_an_inconclusive_report(self):
        path = self.folder / "inconclusive.json"
        done = run(OPTIONS.capgate, "audit", "--expect-bucket", "bs=64", "--out", path, "--", OPTIONS.program, "--trial")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.refused(path, "inconclusive")

    def test_a_report_of_another_bucket(self):
        def rename(report):
            report["subject"]["buckets"] = ["bs=2"]
            for capture in report["captures"]:
                capture["bucket"] = "bs=2"

        self.refused(self.changed(rename), 'no bucket "bs=1"')

    def test_a_report_of_another_build(self):
        self.refused(self.changed(lambda report: report["subject"].update(source_digest="0" * 64)), "source")
        self.refused(self.changed(lambda report: report["subject"].update(build_id="0" * 40)), "build")

    def test_a_trial_that_nobody_audits_proves_nothing(self):
        done = run(OPTIONS.program, "--trial")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, "under capgate audit")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--capgate", required=True)
    parser.add_argument("--program", required=True)
    OPTIONS, rest = parser.parse_known_args()
    if not has_gpu():
        print("no GPU here")
        sys.exit(NO_GPU)
    unittest.main(argv=[sys.argv[0], *rest])
