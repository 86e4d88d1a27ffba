#!/usr/bin/env python3
"""What is checked before a commit: the form of its subject, and hooks that are steps of scripts/check."""

import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def subject(message):
    done = subprocess.run([ROOT / "scripts/commit_subject", "-"], input=message, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


class BeforeACommit(unittest.TestCase):
    def test_a_subject_has_its_form(self):
        for message in ("reports: merge keeps the order\n", "cli, docs: x\n\nA body.\n", "detector/preload: " + "x" * 54 + "\n"):
            with self.subTest(message=message):
                self.assertEqual(subject(message), (0, ""))
        for message, fault in (
            ("Merge keeps the order\n", "is not of the form"),
            ("Reports: merge\n", "is not of the form"),
            ("reports:merge\n", "is not of the form"),
            ("detector/preload: " + "x" * 55 + "\n", "has 73 characters"),
            ("reports: merge\nA body.\n", "is not followed by an empty line"),
        ):
            with self.subTest(message=message):
                code, text = subject(message)
                self.assertEqual(code, 1)
                self.assertIn(fault, text)
        self.assertEqual(subject("")[0], 2)

    def test_every_hook_is_a_step_of_scripts_check(self):
        steps = set(re.findall(r"entry: scripts/check (\w+)", read(".pre-commit-config.yaml")))
        self.assertIn("format", steps)
        known = re.search(r"^all_steps=\((.*)\)$", read("scripts/check"), re.MULTILINE)[1].split()
        self.assertLessEqual(steps, set(known))


if __name__ == "__main__":
    unittest.main()
