#!/usr/bin/env python3
"""What the scripts for a machine with a GPU do when they are stopped, or given what they cannot use. In trees made here, without
a GPU."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SLEEPER = '#!/bin/sh\necho $$ >"{pids}/$$"\nexec sleep 300\n'
# Ends by itself when it is interrupted, which its script must not take for an end like any other. The file appears once it would.
PATIENT = """import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
open(os.path.join({pids!r}, str(os.getpid())), "w").close()
sys.exit(130 if signal.sigtimedwait([signal.SIGINT], 300) else 0)
"""
LONG = 120  # seconds; no limit of what is tested, only of a test that hangs
PROGRAM = {"name": "cpp/a.faulty", "kind": "cpp", "variant": "faulty", "gpus": 1, "needs": [], "env": {}, "audit": [], "timeout": 250}


def runs(pid):
    """A process that has ended may still wait for init to hear of it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Scripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        # A path that a shell would split.
        self.tree = self.folder / "a tree"
        shutil.copytree(ROOT / "scripts", self.tree / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
        self.pids, self.temporary, self.tools = self.folder / "pids", self.folder / "tmp", self.folder / "tools"
        for made in (self.pids, self.temporary, self.tools):
            made.mkdir()
        self.environment = {**os.environ, "TMPDIR": str(self.temporary), "PATH": f"{self.tools}:{os.environ['PATH']}"}

    def put(self, path, text, mode=0o644):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    def start(self, script, *words):
        process = subprocess.Popen(
            [self.tree / "scripts" / script, *map(str, words)], cwd=self.folder, env=self.environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        """Of a test that failed, nothing is left running either."""
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        for pid in filter(runs, [int(started.name) for started in self.pids.iterdir()]):
            os.kill(pid, signal.SIGKILL)

    def run_script(self, script, *words):
        process = self.start(script, *words)
        out, err = process.communicate(timeout=LONG)
        return process.returncode, out, err

    def refused(self, why, script, *words):
        code, _, err = self.run_script(script, *words)
        self.assertEqual(code, 2, err)
        self.assertRegex(err, why)
        self.assertNotIn("Traceback", err)

    def interrupted_leaves_nothing(self, script, *words):
        process = self.start(script, *words)
        end = time.monotonic() + LONG
        while not (begun := list(self.pids.iterdir())) and time.monotonic() < end:
            time.sleep(0.02)
        self.assertTrue(begun, "the program was never started")
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, err = process.communicate(timeout=LONG)
        self.assertEqual(process.returncode, 130, err)
        self.assertNotIn("Traceback", err)
        left = [started.name for started in self.pids.iterdir() if runs(started.name)]
        self.assertEqual(left, [], f"{script} left a program running")
        self.assertEqual(list(self.temporary.iterdir()), [])

    def recorder(self):
        listing = json.dumps([{**PROGRAM, "argv": ["/bin/true"], "source": "a.cu"}])
        self.put(self.tree / "tests/corpus/expect.py", f"print({listing!r})\n")
        self.put(self.tree / "bin/capgate", SLEEPER.format(pids=self.pids), 0o755)

    def test_an_interrupted_recording_leaves_no_audit_and_no_folder(self):
        self.recorder()
        self.interrupted_leaves_nothing("gpu_record", self.folder / "out")

    def test_recording_what_is_not_there(self):
        self.recorder()
        self.refused("no program of that name", "gpu_record", self.folder / "out", "--only", "nothing")
        self.refused("a file: ", "gpu_record", self.put(self.folder / "a file", ""))
        self.assertEqual(list(self.temporary.iterdir()), [])
        self.put(self.tree / "tests/corpus/expect.py", "import sys; sys.exit('no corpus')\n")
        self.refused("no corpus", "gpu_record", self.folder / "out")
        self.assertEqual(list(self.temporary.iterdir()), [])

    def test_an_interrupted_measurement_begins_no_next_step(self):
        self.put(self.tree / "bin/two_devices_cell", "", 0o755)
        self.put(self.tree / "tests/device/two_devices/measure.py", PATIENT.format(pids=str(self.pids)))
        self.interrupted_leaves_nothing("two_devices", self.folder / "out")
        self.assertEqual(len(list(self.pids.iterdir())), 1)

    def test_an_interrupted_round_of_the_engine_begins_no_next_step(self):
        self.put(self.tree / "bin/dsv4", "#!/bin/sh\n", 0o755)
        self.put(self.tree / "bin/kernels_test", "#!/usr/bin/env python3\n" + PATIENT.format(pids=str(self.pids)), 0o755)
        self.interrupted_leaves_nothing("gpu_engine", self.folder / "out", "kernels", "kernels")
        self.assertEqual(len(list(self.pids.iterdir())), 1)

    def list_a_test(self):
        program = self.put(self.tree / "bin/sleeper", SLEEPER.format(pids=self.pids), 0o755)
        test = {"name": "sleeps", "command": [str(program)], "environment": [], "folder": "{build}", "timeout": 250, "skip": 77}
        self.put(self.tree / "gpu_tests.json", json.dumps([test]))

    def test_an_interrupted_test_run_leaves_no_test(self):
        self.list_a_test()
        self.interrupted_leaves_nothing("gpu_test", "--out", self.folder / "out")

    def test_no_test_at_all_is_no_success(self):
        self.refused("runs in a bundle", "gpu_test")
        self.list_a_test()
        self.refused("no test of that name", "gpu_test", "--only", "nothing")
        self.refused("a file: ", "gpu_test", "--out", self.put(self.folder / "a file", ""))

    def bundled(self):
        self.put(self.tools / "ctest", "#!/bin/sh\necho '{\"tests\": []}'\n", 0o755)
        build = self.tree / "build"
        self.put(build / "bin/capgate", "#!/bin/sh\n", 0o755)
        self.put(build / "lib/libcapgate_preload.so", "")
        return "bundle", "--build", build, "--out", self.folder / "the bundle"

    def test_a_bundle_that_fails_leaves_the_one_of_before(self):
        command, bundle = self.bundled(), self.folder / "the bundle"
        code, out, err = self.run_script(*command)
        self.assertEqual(code, 0, err)
        self.assertRegex(out, "the bundle: .* MiB, 1 programs, 0 tests")
        before = sorted(bundle.rglob("*"))
        self.put(self.tools / "ctest", "#!/bin/sh\necho no build >&2\nexit 3\n", 0o755)
        self.refused("ctest .* ended with 3: no build", *command)
        self.put(self.tools / "ctest", SLEEPER.format(pids=self.pids), 0o755)
        self.interrupted_leaves_nothing(*command)
        self.assertEqual(sorted(bundle.rglob("*")), before)
        self.assertEqual([p.name for p in self.folder.iterdir() if "bundle" in p.name], ["the bundle"])
        # And is made anew.
        self.bundled()
        self.assertEqual(self.run_script(*command)[0], 0)

    def test_a_bundle_is_not_put_over_something_else(self):
        command = self.bundled()
        self.put(self.folder / "the bundle/mine", "")
        self.refused("exists and is not a bundle", *command)
        self.assertTrue((self.folder / "the bundle/mine").exists())

    def test_a_gate_that_cannot_be_asked_is_no_fail(self):
        for name in ("bin/capgate", "bin/dsv4"):
            self.put(self.tree / "build" / name, "#!/bin/sh\n", 0o755)
        self.put(self.tree / "build/engine/dsv4.source_digest", "0" * 64)
        gate = ("gate", "--no-build", "--build", self.tree / "build", "--out")
        self.refused("a file: ", *gate, self.put(self.folder / "a file", ""))
        os.mkfifo(self.folder / "pipe")
        for name, text in (
            ("deep", "[" * 100000), ("tool", '{"subject": {}, "tool": []}'), ("digest", '{"subject": {"source_digest": 5}, "tool": {}}'),
            ("pipe", None),
        ):  # fmt: skip
            if text is not None:
                self.put(self.folder / name, text)
            self.refused(f"{name}: is no ", *gate, self.folder / "out", "--lint", self.folder / name)


if __name__ == "__main__":
    unittest.main()
