"""A folder in which `capgate audit` is started, as tests of it need one."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

CAPGATE = pathlib.Path(os.environ["CAPGATE"])
LIBRARY = CAPGATE.parent.parent / "lib" / "libcapgate_preload.so"
PATIENCE = 60


class Audit(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.work = self.folder / "work"
        self.work.mkdir()
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        self.environment = dict(os.environ, TMPDIR=str(self.temporary))
        for name in ("LD_PRELOAD", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "NO_COLOR"):
            self.environment.pop(name, None)

    def start(self, *words, program=CAPGATE, environment=None, **options):
        return subprocess.Popen(
            [program, "audit", *words],
            cwd=self.work,
            env=self.environment | (environment or {}),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )

    def audit(self, *words, stdin=None, **options):
        process = self.start(*words, stdin=subprocess.PIPE, **options)
        out, err = process.communicate(stdin, timeout=PATIENCE)
        return subprocess.CompletedProcess(words, process.returncode, out, err.decode())

    def python(self, source):
        """A program of this source."""
        return ["--", sys.executable, "-c", textwrap.dedent(source)]

    def report(self):
        return json.loads((self.work / "capgate-report.json").read_text())

    def refused(self, done):
        self.assertEqual((done.returncode, done.stdout), (2, b""), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("capgate: "), done.stderr)
        self.assertFalse((self.work / "capgate-report.json").exists())
        self.assertEqual(list(self.temporary.iterdir()), [])
        return done.stderr

    def ready(self, process):
        """Waits until the program says so on its standard output."""
        self.assertEqual(process.stdout.readline(), b"ready\n")

    def finish(self, process):
        out, err = process.communicate(timeout=PATIENCE)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err.decode())
