"""The project's scripts, from outside: --help is their own, and an option that they do not have is told before anything happens."""

import os
import pathlib
import subprocess
import unittest

SCRIPTS = pathlib.Path(os.environ["CAPGATE_SOURCE"]) / "scripts"
# Its options are ctest's, which reads them after the build.
PASSES_ON = {"test"}


def programs():
    found = [path for path in [*SCRIPTS.iterdir(), *(SCRIPTS / "generate").iterdir()] if path.is_file()]
    return sorted(path for path in found if os.access(path, os.X_OK))


def run(*words):
    return subprocess.run([*map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


class Scripts(unittest.TestCase):
    def test_help(self):
        self.assertGreater(len(programs()), 9)
        for path in programs():
            with self.subTest(script=path.name):
                done = run(path, "--help")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertGreater(done.stdout.count("\n"), 1)

    def test_an_unknown_option(self):
        for path in programs():
            if path.name in PASSES_ON:
                continue
            for words in (["--frobnicate"], ["somewhere", "--frobnicate"]):
                with self.subTest(script=path.name, words=words):
                    done = run(path, *words)
                    self.assertEqual((done.returncode, done.stdout), (2, ""), done)
                    self.assertIn(path.name, done.stderr)


if __name__ == "__main__":
    unittest.main()
