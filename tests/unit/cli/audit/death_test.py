"""A capture that dies is told of at once, with the line, by `capgate audit`: against the tests' CUDA that needs no GPU."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

CAPGATE = os.environ["CAPGATE"]
SOURCE = pathlib.Path(os.environ["CAPGATE_SOURCE"])
FAKE = pathlib.Path(os.environ["FAKE_FOLDER"])
PROGRAM = os.environ["FAKE_PROGRAM"]
PYTHON_RUNTIME = os.environ["FAKE_PYTHON_RUNTIME"]


class Death(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = pathlib.Path(folder.name)
        # The fake runtime is CUDA, and not the user's.
        (self.work / ".capgate.toml").write_text(f'repository = "{SOURCE}"\n[frames]\nnot_user = ["fake_rt::*"]\n')
        self.environment = dict(os.environ, LD_PRELOAD=str(FAKE / "libcupti.so.13"), LD_LIBRARY_PATH=str(FAKE))

    def audit(self, *program, **options):
        return subprocess.Popen(
            [CAPGATE, "audit", "--", *program],
            cwd=self.work,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )

    def died(self, *program):
        _, err = self.audit(*program).communicate(timeout=120)
        lines = [line for line in err.splitlines() if line.startswith("capgate: ")]
        self.assertEqual(len(lines), 1, err)
        return lines[0]

    SAID = r"capgate: capture died: cudaStreamSynchronize returned cudaErrorStreamCaptureUnsupported \(900\) at "

    def test_a_program_with_debug_information(self):
        said = self.died(PROGRAM, "broken")
        found = re.fullmatch(self.SAID + r"tests/unit/preload/programs/calls\.cpp:(\d+) (.*)\(\)", said)
        self.assertTrue(found, said)
        self.assertTrue(found[2].endswith("sync_inside"), said)
        text = (SOURCE / "tests/unit/preload/programs/calls.cpp").read_text().splitlines()[int(found[1]) - 1]
        self.assertIn("fake_rt::stream_synchronize", text)

    def test_a_program_without_lines(self):
        bare = self.work / "bare"
        for options, place in ((["-g"], r"bare!.*sync_inside.*\+0x[0-9a-f]+"), (["-s"], r"bare!.*\+0x[0-9a-f]+")):
            with self.subTest(options=options):
                shutil.copy(PROGRAM, bare)
                subprocess.run(["strip", *options, bare], check=True)
                self.assertRegex(self.died(bare, "broken"), f"^{self.SAID}{place}$")

    def test_it_is_told_while_the_program_still_runs(self):
        script = self.work / "step.py"
        script.write_text(
            "import ctypes\n"
            f"rt = ctypes.CDLL({PYTHON_RUNTIME!r})\n"
            "def route():\n"
            "    rt.fake_python_wait_for_capture()\n"
            "rt.fake_python_begin_capture()\n"
            "route()\n"
            "input()\n"
        )
        process = self.audit(sys.executable, str(script), stdin=subprocess.PIPE)
        with process:
            said = process.stderr.readline()
            self.assertIsNone(process.poll())
            process.communicate("\n", timeout=120)
        self.assertRegex(said, f"^{self.SAID}.*step\\.py:4 route\\(\\)\n$")

    def test_nothing_of_it_stays_in_a_kept_trace(self):
        process = subprocess.run(
            [CAPGATE, "audit", "--trace", "kept", "--", PROGRAM, "broken"],
            cwd=self.work,
            env=self.environment,
            capture_output=True,
            timeout=120,
            check=False,
        )
        self.assertEqual(process.returncode, 1, process.stderr)
        self.assertFalse((self.work / "kept/deaths").exists())
        self.assertTrue((self.work / "kept/trace.cgtrace").exists())


if __name__ == "__main__":
    unittest.main()
