#!/usr/bin/env python3
"""Audits the trial of dsv4 with each planted fault, on a GPU: the rule, the line, and a gate that stays closed.

    planted.py --capgate CAPGATE --programs DIR --dsv4 DSV4 [--out DIR]     ends with 77 without a GPU

The sources' half is planted_lint_test.py's. The programs may be packed in DIR.tar.xz, as a bundle has them; --out keeps the
reports.
"""

import argparse
import json
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gpu_here import NO_GPU, has_gpu
from planted_faults import planted_faults, sees, told

PATIENCE = 120


def run(*words):
    return subprocess.run(
        [*map(str, words)], capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL, check=False
    )  # fmt: skip


class Planted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.out = OPTIONS.out or cls.folder
        cls.out.mkdir(parents=True, exist_ok=True)
        cls.programs = OPTIONS.programs
        if not cls.programs.is_dir():
            cls.programs = cls.folder / "programs"
            with tarfile.open(f"{OPTIONS.programs}.tar.xz") as packed:
                packed.extractall(cls.programs)
        done = run(OPTIONS.dsv4, "random-checkpoint", "--shape", "tiny", "--seed", 1, "--out", cls.folder / "model")
        if done.returncode:
            raise SystemExit(done.stderr)

    def audit(self, name, program):
        path = self.out / f"{name}.json"
        done = run(
            OPTIONS.capgate, "audit", "--expect-bucket", "bs=1", "--out", path, "--", program, "trial", "--model", self.folder / "model",
            "--buckets", 1,
        )  # fmt: skip
        return done, json.loads(path.read_text(encoding="utf-8")), path

    def generate(self, program, path):
        return run(
            program, "generate", "--model", self.folder / "model", "--prompt-ids", "1,2,3", "--max-tokens", 4, "--device", "cuda",
            "--mode", "full", "--gate", path,
        )  # fmt: skip

    def test_without_a_fault_the_audit_passes(self):
        done, report, _ = self.audit("as_it_is", OPTIONS.dsv4)
        self.assertEqual((done.returncode, told(report)), (0, []), done.stderr)

    def test_each_is_found_at_its_line_and_closes_the_gate(self):
        for name, marks in planted_faults().items():
            with self.subTest(fault=name):
                program = self.programs / f"dsv4_planted_{name}"
                done, report, path = self.audit(name, program)
                self.assertEqual((done.returncode, report["verdict"]), (1, "fail"), done.stderr)
                for mark in marks:
                    if mark.seen_by != "lint":
                        self.assertTrue(sees(report, mark), f"{mark}: {told(report)}")
                refused = self.generate(program, path)
                self.assertEqual((refused.returncode, refused.stdout), (2, ""), refused.stderr)
                self.assertRegex(refused.stderr, r"\Adsv4 generate: the gate is closed: .* has \d+ errors?;[^\n]*\n\Z")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--capgate", required=True, type=Path)
    parser.add_argument("--programs", required=True, type=Path)
    parser.add_argument("--dsv4", required=True, type=Path)
    parser.add_argument("--out", type=Path)
    OPTIONS, rest = parser.parse_known_args()
    if not has_gpu():
        print("no GPU here")
        sys.exit(NO_GPU)
    unittest.main(argv=[sys.argv[0], *rest])
