"""The program runs on a machine that has a C and a C++ run-time library and nothing else of Debian's."""

import os
import re
import subprocess
import sys
import unittest

ALLOWED = {
    "libc.so.6",
    "libm.so.6",
    "libdl.so.2",
    "libpthread.so.0",
    "librt.so.1",
    "libgcc_s.so.1",
    "libstdc++.so.6",
    "ld-linux-x86-64.so.2",
}


class Portable(unittest.TestCase):
    def test_needs_only_the_language_run_time(self):
        dynamic = subprocess.run(["readelf", "-d", os.environ["CAPGATE"]], capture_output=True, text=True, check=True).stdout
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
        self.assertIn("libc.so.6", needed)
        self.assertEqual(needed - ALLOWED, set())
        self.assertIn("[$ORIGIN/../lib", dynamic)


if __name__ == "__main__":
    if os.environ.get("CAPGATE_SANITIZE"):
        print("skipped: a sanitizer brings its own run-time library")
        sys.exit(77)
    unittest.main()
