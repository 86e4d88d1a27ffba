"""No pass when a process that used CUDA was killed, and a report when the disk is full: `capgate audit` against the tests' CUDA."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

CAPGATE = os.environ["CAPGATE"]
FAKE = pathlib.Path(os.environ["FAKE_FOLDER"])
PROGRAM = os.environ["FAKE_PROGRAM"]


class Ends(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = pathlib.Path(folder.name)
        self.environment = dict(os.environ, LD_PRELOAD=str(FAKE / "libcupti.so.13"), LD_LIBRARY_PATH=str(FAKE))

    def audit(self, *options, script):
        return subprocess.run(
            [CAPGATE, "audit", *options, "--", "sh", "-c", script],
            cwd=self.work,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def report(self, script):
        done = self.audit("--out", "report.json", script=script)
        return done, json.loads((self.work / "report.json").read_text())

    def test_a_killed_worker_is_no_pass_when_its_parent_ends_well(self):
        done, report = self.report(f"{PROGRAM} killed; {PROGRAM} clean")
        self.assertEqual(report["run"]["exit_code"], 0)
        self.assertEqual(report["verdict"], "inconclusive", done.stderr)
        self.assertEqual(done.returncode, 2)
        texts = [reason["text"] for reason in report["reasons"]]
        self.assertTrue(any("used CUDA and was killed" in text for text in texts), texts)

    def test_a_worker_that_leaves_by_exit_is_not_taken_for_killed(self):
        done, report = self.report(f"{PROGRAM} _exit; {PROGRAM} clean")
        self.assertEqual(report["verdict"], "pass", done.stderr)
        self.assertEqual(report["reasons"], [])

    def test_a_report_is_written_where_the_disk_is_full(self):
        done = self.audit("--out", "/dev/full", script=f"{PROGRAM} clean")
        self.assertEqual(done.returncode, 2)
        self.assertIn("No space left", done.stderr)
        file = pathlib.Path(done.stderr.split("the report is in ")[1].split("; ")[0])
        self.addCleanup(file.unlink)
        self.assertEqual(json.loads(file.read_text())["verdict"], "pass")

    def test_a_trace_that_cannot_be_sealed_is_judged(self):
        # The run itself takes the room: its trace is there, and nothing fits beside it.
        script = f"{PROGRAM} clean; for f in trace/*.cgraw; do mkdir -p trace/trace.cgtrace/full; done"
        done = self.audit("--out", "report.json", "--trace", "trace", script=script)
        self.assertIn("the run is judged all the same", done.stderr)
        self.assertEqual(json.loads((self.work / "report.json").read_text())["verdict"], "pass", done.stderr)


if __name__ == "__main__":
    unittest.main()
