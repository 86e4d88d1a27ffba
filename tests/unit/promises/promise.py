"""Ties a test to the sentences that it proves: it fails when they are no longer on their page, so that neither outlives the other."""

import functools
import os
import pathlib
import subprocess
import tempfile
import unittest

CAPGATE = os.environ["CAPGATE"]
SOURCE = pathlib.Path(os.environ["CAPGATE_SOURCE"])
COMMANDS = [name for name in os.environ["CAPGATE_COMMANDS"].split(",") if name]
LIBRARY = pathlib.Path(CAPGATE).parent.parent / "lib/libcapgate_preload.so"
GOLDEN = SOURCE / "tests/unit/reports/golden"
TRACES = SOURCE / "tests/traces"

needs_lint = unittest.skipUnless("lint" in COMMANDS, "capgate lint is not part of this build")


def one_line(text):
    return " ".join(text.split())


@functools.cache
def text_of(page):
    """Of a page, or of `capgate … --help`, with every line break as a space."""
    if page.startswith("capgate"):
        return one_line(subprocess.run([CAPGATE, *page.split()[1:]], capture_output=True, text=True, check=True).stdout)
    return one_line((SOURCE / page).read_text(encoding="utf-8"))


def promise(page, *sentences):
    def of(test):
        @functools.wraps(test)
        def run(self):
            for sentence in sentences:
                self.assertIn(one_line(sentence), text_of(page), f"{page} no longer says so")
            test(self)

        return run

    return of


class Promises(unittest.TestCase):
    """With a folder of its own, in which capgate runs."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.here / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def run_capgate(self, *words, stdin="", env=None):
        """Lint's cache is in the folder as well."""
        environment = os.environ | {"XDG_CACHE_HOME": str(self.here / ".cache")} | (env or {})
        return subprocess.run([CAPGATE, *map(str, words)], input=stdin, cwd=self.here, env=environment,
                              capture_output=True, text=True, timeout=200)  # fmt: skip

    def output(self, *words, code=0, **options):
        done = self.run_capgate(*words, **options)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout
