#!/usr/bin/env python3
"""Lints the decode step with each planted fault in turn: the rule and the line, and the gate stays closed. Needs no GPU.

    planted_lint_test.py --build BUILD --capgate CAPGATE --programs DIR --dsv4 DSV4 --cache DIR

A fault that only a run can show (PLANTED(audit)) must not be an error here: tests/device/engine/planted.py sees it.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from planted_faults import ROOT, planted_faults, sees, told

STEP = "engine/cuda/step/step.cpp"
FOLDERS = ("engine/cuda/", "kernels/")


def run(*words, **more):
    return subprocess.run([*map(str, words)], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, **more)


class Planted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        entries = json.loads((OPTIONS.build / "compile_commands.json").read_text(encoding="utf-8"))
        cls.units = [e for e in entries if e["file"].startswith(tuple(f"{ROOT}/{part}" for part in FOLDERS))]
        cls.faults = planted_faults()
        done = run(OPTIONS.dsv4, "random-checkpoint", "--shape", "tiny", "--seed", 1, "--out", cls.folder / "model")
        if done.returncode:
            raise SystemExit(done.stderr)

    def lint(self, fault):
        units = [dict(unit) for unit in self.units]
        steps = [unit for unit in units if unit["file"] == f"{ROOT}/{STEP}"]
        self.assertEqual(len(steps), 1, "the compile database has the step once")
        if fault:
            compiler, _, rest = steps[0]["command"].partition(" ")
            if "ccache" in compiler:
                compiler, _, rest = rest.partition(" ")
            steps[0]["command"] = f"{compiler} -DDSV4_PLANTED_FAULT={fault} {rest}"
        here = self.folder / (fault or "as_it_is")
        here.mkdir()
        (here / "compile_commands.json").write_text(json.dumps(units), encoding="utf-8")
        done = run(OPTIONS.capgate, "lint", "-p", here, "--cache-dir", OPTIONS.cache, "--out", here / "lint.json", cwd=ROOT)
        return done.returncode, json.loads((here / "lint.json").read_text(encoding="utf-8")), here / "lint.json"

    def test_the_step_as_it_is_passes(self):
        code, report, _ = self.lint(None)
        self.assertEqual((code, report["verdict"], told(report)), (0, "pass", []))

    def test_there_are_nine_and_a_program_of_each(self):
        self.assertEqual(len(self.faults), 9)
        self.assertEqual({f"dsv4_planted_{name}" for name in self.faults}, {path.name for path in OPTIONS.programs.iterdir()})
        for name, marks in self.faults.items():
            self.assertTrue(marks, name)

    def test_each_is_found_at_its_line_and_closes_the_gate(self):
        for name, marks in self.faults.items():
            with self.subTest(fault=name):
                code, report, path = self.lint(name)
                in_sources = [mark for mark in marks if mark.seen_by != "audit"]
                for mark in in_sources:
                    self.assertTrue(sees(report, mark), f"{mark}: {told(report)}")
                if not in_sources:
                    self.assertEqual((code, told(report)), (0, []))
                    continue
                self.assertEqual((code, report["verdict"]), (1, "fail"))
                done = run(
                    OPTIONS.programs / f"dsv4_planted_{name}", "generate", "--model", self.folder / "model", "--prompt-ids", 1,
                    "--max-tokens", 1, "--device", "cuda", "--mode", "full", "--gate", path,
                )  # fmt: skip
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertRegex(done.stderr, r"\Adsv4 generate: the gate is closed: .*lint\.json has \d+ errors?;[^\n]*\n\Z")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("build", "capgate", "programs", "dsv4", "cache"):
        parser.add_argument(f"--{option}", required=True, type=Path)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
