#!/usr/bin/env python3
"""scripts/gate on a machine without a GPU: the static half alone, and with runtime reports of these and of other sources.

    gate_script_test.py --build BUILD --cache DIR
"""

import argparse
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

from reports import an_error, audit_report, identity, lint_report, run

ROOT = Path(__file__).resolve().parents[3]


class GateScript(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.dsv4, cls.capgate = OPTIONS.build / "bin/dsv4", OPTIONS.build / "bin/capgate"
        cls.model = cls.folder / "model"
        run(cls.dsv4, "random-checkpoint", "--shape", "tiny", "--seed", 1, "--out", cls.model)
        cls.identity = identity(cls.dsv4, cls.model)
        # No GPU, whatever this machine has.
        here = cls.folder / "bin"
        here.mkdir()
        (here / "nvidia-smi").write_text("#!/bin/sh\nexit 9\n")
        (here / "nvidia-smi").chmod(0o755)
        cls.environment = {**os.environ, "PATH": f"{here}:{os.environ['PATH']}"}
        cls.out = cls.folder / "out"

    def gate(self, *more):
        return run(
            sys.executable, "-B", ROOT / "scripts/gate", "--build", OPTIONS.build, "--no-build", "--out", self.out, "--cache-dir",
            OPTIONS.cache, *more, env=self.environment,
        )  # fmt: skip

    def put(self, name, report):
        path = self.folder / name
        path.write_text(json.dumps(report), encoding="utf-8")
        return path

    def opens(self):
        """Behind the merged report dsv4 gets past what needs no GPU to compare."""
        done = run(
            self.dsv4, "generate", "--model", self.model, "--prompt-ids", 1, "--max-tokens", 1, "--device", "cuda", "--mode", "full",
            "--gate", self.out / "gate.json",
        )  # fmt: skip
        return done.returncode == 0 or "CUDA device" in done.stderr or "GPU" in done.stderr or "driver" in done.stderr

    def test_the_static_half_says_that_the_other_is_missing(self):
        done = self.gate()
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, "the static half: pass")
        self.assertRegex(done.stderr, r"the runtime half is missing: .*\n.*capgate audit --expect-bucket bs=1 .*-- dsv4 trial")
        report = json.loads((self.out / "lint.json").read_text(encoding="utf-8"))
        self.assertEqual((report["verdict"], report["subject"]["source_digest"]), ("pass", self.identity["source_digest"]))
        self.assertGreaterEqual(report["coverage"]["files_parsed"], 15)
        self.assertTrue(any("enqueue_step" in region["name"] for region in report["coverage"]["regions"]))

        ready = ("--lint", self.out / "lint.json")
        for more, expected in (
            ((), r"--expect-bucket 'bs=1 piece 0' --expect-bucket 'bs=2 piece 0' --out"),
            (("--model", self.model), " ".join(rf"--expect-bucket 'bs=1 piece {piece}'" for piece in range(7))),
        ):
            done = self.gate(*ready, "--mode", "piecewise", "--buckets", "1,2", *more)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertRegex(done.stderr, rf"capgate audit {expected}.*-- dsv4 trial --model DIR --buckets 1,2 --mode piecewise\n")

        runtime = self.put("runtime.json", audit_report(self.identity))
        done = self.gate("--runtime", runtime)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, "the gate opens: .*gate.json")
        self.assertTrue(self.opens())

    def test_the_static_half_alone(self):
        lint = self.put("lint.json", lint_report())
        done = self.gate("--static", "--lint", lint)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, "the static half: pass")

    def test_ready_halves(self):
        lint = self.put("lint.json", lint_report())
        done = self.gate("--lint", lint, "--runtime", self.put("runtime.json", audit_report(self.identity)))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, "lint.json does not say which sources it is about; it is taken to be of these")
        self.assertTrue(self.opens())

    def test_a_runtime_report_of_other_sources(self):
        lint = self.put("lint.json", lint_report())
        for digest, why in (
            ("1" * 64, "is about source digest 111111111111, these sources are "),
            ("", "does not say which sources it is about"),
        ):
            done = self.gate(
                "--lint", lint, "--runtime", self.put("runtime.json", audit_report({**self.identity, "source_digest": digest}))
            )
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertRegex(done.stderr, f"runtime.json {why}")

    def test_a_lint_report_of_other_sources(self):
        report = lint_report()
        report["subject"]["source_digest"] = "2" * 64
        done = self.gate("--lint", self.put("lint.json", report))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, "lint.json is about source digest 222222222222, these sources are ")

    def test_an_error_in_either_half(self):
        failed = lint_report()
        failed.update(verdict="fail", violations=[{**an_error(), "evidence": ["static"], "phase": "source"}])
        failed["summary"].update(errors=1, by_rule={"host-sync": 1})
        lint = self.put("lint.json", failed)
        self.assertEqual(self.gate("--lint", lint).returncode, 1)
        done = self.gate("--lint", lint, "--runtime", self.put("runtime.json", audit_report(self.identity)))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, "the gate stays closed")
        self.assertFalse(self.opens())

    def test_what_is_no_report(self):
        for text, why in (("", "is no JSON"), ("[]", "is no report"), ("{}", "is no report")):
            path = self.folder / "broken.json"
            path.write_text(text, encoding="utf-8")
            for option in ("--lint", "--runtime"):
                done = self.gate("--lint", self.put("lint.json", lint_report()), option, path)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertRegex(done.stderr, f"broken.json: {why}")
        done = self.gate("--lint", self.folder / "nowhere.json")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, "nowhere.json: No such file")
        done = self.gate("--lint", self.put("runtime.json", audit_report(self.identity)))
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, "is not a report of capgate lint")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=Path)
    parser.add_argument("--cache", required=True, type=Path)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
