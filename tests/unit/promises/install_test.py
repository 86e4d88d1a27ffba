"""What the README promises of the scripts that install, build and test, and of a plain build.

The scripts run with tools that write down what they are asked and do nothing, so that no machine is changed."""

import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import unittest

from promise import CAPGATE, LIBRARY, SOURCE, Promises, promise

PAGE = "README.md"
BUILD = pathlib.Path(CAPGATE).parent.parent
TOOLS = {
    "dpkg-query": 'for package; do :; done\ncase " $MISSING " in *" $package "*) exit 1 ;; esac\necho "install ok installed"',
    "apt-get": 'echo "apt-get $*" >> "$ASKED"',
    "sudo": 'exec "$@"',
    "npm": ":",
    "cmake": 'echo "cmake $*" >> "$ASKED"',
    "ctest": 'echo "ctest $*" >> "$ASKED"\necho "100% tests passed, 0 tests failed out of 3"',
    "nvcc": 'echo "#$ TOP=$TOOLKIT" >&2',
}


class Scripts(Promises):
    def asked(self, script, *words, missing=()):
        """The command lines of package manager, CMake and ctest that a script of the project starts."""
        for name, body in TOOLS.items():
            self.write(f"tools/{name}", f"#!/bin/sh\n{body}\n").chmod(0o755)
        self.write("toolkit/include/cupti.h", "")
        asked = self.write("asked", "")
        environment = os.environ | {
            "PATH": f"{self.here}/tools:{os.environ['PATH']}", "MISSING": " ".join(missing), "ASKED": str(asked),
            "TOOLKIT": str(self.here / "toolkit"),
        }  # fmt: skip
        done = subprocess.run([SOURCE / script, *words], env=environment, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return asked.read_text(encoding="utf-8").splitlines()

    @promise(PAGE, "scripts/deps # installs what is missing")
    def test_deps_installs_what_is_missing_and_nothing_else(self):
        self.assertEqual(self.asked("scripts/deps"), [])
        update, install = self.asked("scripts/deps", missing=["ninja-build", "libdw-dev", "not-one-of-ours"])
        self.assertEqual(update, "apt-get update -qq")
        packages = {word for word in install.split()[2:] if not word.startswith("-")}
        self.assertEqual(packages, {"ninja-build", "libdw-dev"}, install)

    @promise(PAGE, "`scripts/test` builds everything and runs every test that needs no GPU.")
    def test_test_builds_everything_and_runs_all_tests(self):
        commands = [re.sub(r" --parallel \d+", "", line) for line in self.asked("scripts/test")]
        self.assertEqual(commands[0], "cmake --preset release")
        self.assertEqual(commands[-2:], ["cmake --build --preset release", "ctest --preset release"])
        presets = json.loads((SOURCE / "CMakePresets.json").read_text(encoding="utf-8"))["testPresets"]
        by_name = {preset["name"]: preset for preset in presets}
        self.assertNotIn("filter", by_name["release"])
        self.assertEqual(by_name[by_name["release"]["inherits"]]["filter"], {"exclude": {"label": "gpu"}})


class Built(unittest.TestCase):
    @promise(PAGE, "This builds the engine, the examples and the tests as well.")
    @unittest.skipUnless((BUILD / "build.ninja").exists() and shutil.which("ninja"), "the build is not Ninja's")
    def test_a_plain_build_has_the_engine_the_examples_and_the_tests(self):
        listed = subprocess.run(["ninja", "-C", BUILD, "-t", "inputs", "all"], capture_output=True, text=True, check=True)
        cache = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
        folders = ["cli", "detector", "tests/unit"]
        if "CAPGATE_WITH_CUDA:BOOL=ON" in cache:
            folders.append("examples")
        if "CAPGATE_WITH_ENGINE:BOOL=ON" in cache:
            folders.append("engine")
        objects = [line for line in listed.stdout.splitlines() if line.endswith(".o")]
        for folder in folders:
            self.assertTrue(any(line.startswith(folder + "/") for line in objects), f"nothing of {folder} is built")

    @promise(PAGE, "Linux on x86-64.")
    def test_what_is_built_is_for_linux_on_x86_64(self):
        for path in (pathlib.Path(CAPGATE), LIBRARY):
            with self.subTest(path=path.name):
                if not path.exists():
                    self.skipTest(f"{path.name} is not part of this build")
                head = path.read_bytes()[:20]
                system, machine = head[7], struct.unpack_from("<H", head, 18)[0]
                self.assertEqual(head[:5], b"\x7fELF\x02")
                self.assertIn(system, (0, 3), "System V or Linux")
                self.assertEqual(machine, 62, "EM_X86_64")

    @promise(PAGE, "From the sources, on Debian 12 or a derivative, with GCC 12 and the CUDA toolkit 13.0 or later:")
    def test_this_build_is_one_of_those(self):
        release = pathlib.Path("/etc/os-release")
        if not release.exists() or 'VERSION_ID="12"' not in release.read_text(encoding="utf-8"):
            self.skipTest("this is not Debian 12")
        (compiler,) = BUILD.glob("CMakeFiles/*/CMakeCXXCompiler.cmake")
        text = compiler.read_text(encoding="utf-8")
        if 'CMAKE_CXX_COMPILER_ID "GNU"' not in text:
            self.skipTest("the compiler is not GCC")
        self.assertEqual(re.search(r'CMAKE_CXX_COMPILER_VERSION "(\d+)\.', text)[1], "12")


if __name__ == "__main__":
    if os.environ.get("CAPGATE_SANITIZE"):
        print("a sanitizer's build has other compilers")
        sys.exit(77)
    unittest.main()
