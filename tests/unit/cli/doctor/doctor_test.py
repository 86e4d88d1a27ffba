"""capgate doctor: what it says where nothing is there, where the tests' CUDA is, and where that CUDA hides the planted fault."""

import json
import os
import pathlib
import stat
import subprocess
import tempfile
import unittest

CAPGATE = os.environ["CAPGATE"]
FAKE = os.environ.get("FAKE_FOLDER", "")
PYTHON = """#!/bin/sh
echo '{"version": [3, %d, 1], "packages": {"torch": "2.11.0", "nvidia-cuda-cupti": "13.0.85"}}'
"""


class Doctor(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = pathlib.Path(folder.name)

    def run_doctor(self, *words, **environment):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("CUDA_", "NVTX_", "KINETO_"))}
        return subprocess.run(
            [CAPGATE, "doctor", *words], cwd=self.here, env=kept | environment, capture_output=True, text=True, timeout=200
        )

    def checks(self, *words, code, **environment):
        done = self.run_doctor("--json", *words, **environment)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual((report["schema"], report["works"]), ("capgate-doctor/1", code == 0))
        for check in report["checks"]:
            self.assertTrue(check["text"], check)
            if check["state"] == "missing":
                self.assertTrue(check["command"], f"{check['name']} is missing, and no command is given")
        return {check["name"]: check for check in report["checks"]}

    def fake(self, how=""):
        """The tests' CUDA, whose CUPTI can be held by another tool, refuse, or say nothing."""
        if not FAKE:
            self.skipTest("the tests' CUDA is not part of this build")
        return {"LD_PRELOAD": f"{FAKE}/libcupti.so.13", "LD_LIBRARY_PATH": FAKE, "FAKE_CUPTI": how}

    def python(self, minor):
        path = self.here / "bin/python3"
        path.parent.mkdir(exist_ok=True)
        path.write_text(PYTHON % minor)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return {"PATH": f"{path.parent}:{os.environ['PATH']}"}

    def test_without_a_driver_it_says_what_is_missing_and_what_to_do(self):
        if os.path.exists("/dev/nvidia0"):
            self.skipTest("this machine has a GPU")
        found = self.checks(code=1)
        self.assertEqual(found["driver"]["state"], "missing")
        self.assertIn("libcuda.so.1", found["driver"]["text"])
        self.assertEqual((found["detector"]["state"], found["self-test"]["state"]), ("ok", "note"))
        text = self.run_doctor().stdout
        self.assertRegex(text, r"(?m)^driver +missing +there is no CUDA driver: .*\n +run: \S")
        self.assertRegex(text, r"\nAn audit does not work here: see driver.*\. Everything else of capgate does\.\n$")

    def test_the_planted_fault_is_found_and_its_clean_twin_passes(self):
        found = self.checks(code=0, **self.fake())
        self.assertEqual({check["state"] for check in found.values()} - {"ok", "note"}, set())
        self.assertIn("a wait planted in a capture was found", found["self-test"]["text"])
        self.assertIn("libcupti.so.13", found["cupti"]["text"])
        self.assertTrue(self.run_doctor(**self.fake()).stdout.endswith("\nAn audit works here.\n"))
        self.assertEqual(list(self.here.iterdir()), [], "nothing is left in the user's folder")

    def test_a_detector_that_sees_nothing_is_caught(self):
        for how, words in (("held", "CUPTI is held by Rival Tool"), ("broken", "did not attach"), ("deaf", "was not found")):
            with self.subTest(how=how):
                found = self.checks(code=1, **self.fake(how))
                self.assertEqual(found["self-test"]["state"], "missing")
                self.assertIn(words, found["self-test"]["text"])

    def test_without_the_self_test_nothing_is_claimed(self):
        done = self.run_doctor("--no-self-test", **self.fake())
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("An audit should work here; no fault was planted to show it.", done.stdout)
        self.assertNotIn("self-test", done.stdout)

    def test_suppressions_of_the_project_do_not_hide_the_fault(self):
        (self.here / ".capgate.toml").write_text('suppressions = "all.txt"\n')
        (self.here / "all.txt").write_text("*:*  everything\n")
        self.assertEqual(self.checks(code=0, **self.fake())["self-test"]["state"], "ok")

    def test_python_and_its_packages(self):
        found = self.checks("--no-self-test", code=0, **(self.fake() | self.python(12)))["python"]
        self.assertEqual(found["state"], "ok")
        self.assertIn("Python 3.12.1, nvidia-cuda-cupti 13.0.85, torch 2.11.0", found["text"])
        found = self.checks("--no-self-test", code=0, **(self.fake() | self.python(99)))["python"]
        self.assertEqual(found["state"], "note")
        self.assertIn("lines are read from Python 3.8 to", found["text"])

    def test_a_tool_that_could_hold_cupti_is_named(self):
        found = self.checks("--no-self-test", code=0, **(self.fake() | {"CUDA_INJECTION64_PATH": "/opt/nsight/libinject.so"}))
        self.assertEqual(found["other tools"]["state"], "note")
        self.assertIn("CUDA_INJECTION64_PATH names /opt/nsight/libinject.so", found["other tools"]["text"])

    def test_a_folder_for_traces_that_cannot_be_written(self):
        found = self.checks("--no-self-test", code=1, **(self.fake() | {"TMPDIR": str(self.here / "missing")}))
        self.assertEqual(found["trace folder"]["state"], "missing")
        self.assertIn("TMPDIR", found["trace folder"]["command"])

    def test_wrong_usage(self):
        self.assertEqual(self.run_doctor("--plant", "other").returncode, 2)
        self.assertEqual(self.run_doctor("word").returncode, 2)
        self.assertNotIn("--plant", subprocess.run([CAPGATE, "doctor", "--help"], capture_output=True, text=True).stdout)


if __name__ == "__main__":
    unittest.main()
