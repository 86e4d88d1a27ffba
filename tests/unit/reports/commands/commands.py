"""A folder in which the commands that read reports are run, as tests of them need one."""

import os
import pathlib
import subprocess
import tempfile
import unittest

CAPGATE = os.environ["CAPGATE"]
GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"


def run(*words, stdin=None):
    done = subprocess.run([CAPGATE, *map(str, words)], input=stdin, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


class Commands(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.here = pathlib.Path(self.folder.name)

    def expect_sentence(self, result, part):
        code, out, err = result
        self.assertEqual(code, 2)
        self.assertEqual(out, "")
        self.assertTrue(err.startswith("capgate: "), err)
        self.assertIn(part, err)
