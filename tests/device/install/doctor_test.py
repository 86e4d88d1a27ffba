"""capgate doctor on a GPU: the planted fault is found, and what hides it is named."""

import json
import os
import pathlib
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from gpu_here import NO_GPU, has_gpu  # noqa: E402


class DoctorOnGpu(unittest.TestCase):
    def doctor(self, **environment):
        begin = time.monotonic()
        done = subprocess.run(
            [os.environ["CAPGATE"], "doctor", "--json"], env=os.environ | environment, capture_output=True, text=True, timeout=300
        )
        print(f"{time.monotonic() - begin:.1f} s", done.stdout)
        return done.returncode, {check["name"]: check for check in json.loads(done.stdout)["checks"]}

    def test_the_planted_fault_is_found(self):
        code, checks = self.doctor()
        self.assertEqual(code, 0, checks)
        self.assertEqual(checks["self-test"]["state"], "ok")
        self.assertIn("a wait planted in a capture was found", checks["self-test"]["text"])

    def test_no_visible_gpu(self):
        code, checks = self.doctor(CUDA_VISIBLE_DEVICES="")
        self.assertEqual((code, checks["driver"]["state"], checks["self-test"]["state"]), (1, "missing", "note"))
        self.assertEqual(checks["driver"]["command"], "unset CUDA_VISIBLE_DEVICES")


if __name__ == "__main__":
    if not has_gpu():
        print("skipped: needs a GPU")
        sys.exit(NO_GPU)
    unittest.main()
