"""The wheel: pip installs it without an index, and `capgate`, `python -m capgate` and the modules work. Made here of this build's
programs, which need a newer glibc than a release's, so that the script's check of the tag is shown as well."""

import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

SOURCE = pathlib.Path(os.environ["CAPGATE_SOURCE"])
CAPGATE = pathlib.Path(os.environ["CAPGATE"])
TRACE = SOURCE / "tests/traces/cpp/all_at_once.faulty.cgtrace"
sys.path.insert(0, str(SOURCE / "packaging"))
from portable import complaints  # noqa: E402


def release(folder, programs):
    """An archive as scripts/release makes it, of these programs."""
    tree = folder / "capgate-0.1.0"
    for name, file in programs.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, tree / name)
    shutil.copytree(SOURCE / "detector/python", tree / "share/capgate/python", dirs_exist_ok=True)
    (tree / "THIRD_PARTY.txt").write_text("licences\n")
    with tarfile.open(folder / "capgate-0.1.0-linux-x86_64.tar.gz", "w:gz") as archive:
        archive.add(tree, arcname=tree.name)
    return folder


class Wheel(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = pathlib.Path(folder.name)

    def wheel(self, programs):
        (self.here / "release").mkdir(exist_ok=True)
        release(self.here / "release", programs)
        return subprocess.run([SOURCE / "scripts/wheel", "--release", self.here / "release"], capture_output=True, text=True)

    def test_a_program_of_a_newer_glibc_gets_no_wheel(self):
        if not complaints(CAPGATE):
            self.skipTest("this build runs with glibc 2.31")
        library = CAPGATE.parent.parent / "lib/libcapgate_preload.so"
        done = self.wheel({"bin/capgate": CAPGATE, "lib/libcapgate_preload.so": library, "lib/libcapgate_watch_host.so": library})
        self.assertEqual(done.returncode, 2)
        self.assertIn("the wheel's tag would not be true", done.stderr)
        self.assertFalse(list((self.here / "release").glob("*.whl")))

    def test_without_a_release_it_says_what_makes_one(self):
        (self.here / "release").mkdir()
        done = subprocess.run([SOURCE / "scripts/wheel", "--release", self.here / "release"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("scripts/release makes one", done.stderr)

    def test_pip_installs_it(self):
        # Programs whose needs are met anywhere stand in for those of a release: the script looks at each.
        (self.here / "code.c").write_text("int capgate_part;")
        library = self.here / "part.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-nostdlib", "-o", library, self.here / "code.c", "-lc"], check=True)
        done = self.wheel({"bin/capgate": library, "lib/libcapgate_preload.so": library, "lib/libcapgate_watch_host.so": library})
        self.assertEqual(done.returncode, 0, done.stderr)
        (wheel,) = (self.here / "release").glob("*.whl")
        self.assertEqual(wheel.name, "capgate-0.1.0-py3-none-manylinux_2_31_x86_64.whl")
        first = wheel.read_bytes()
        done = subprocess.run([SOURCE / "scripts/wheel", "--release", self.here / "release"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(wheel.read_bytes(), first, "the same archive gives the same wheel")
        sums = self.here / "release/SHA256SUMS"
        self.assertFalse(sums.exists())
        sums.write_text("")
        self.assertEqual(subprocess.run([SOURCE / "scripts/wheel", "--release", sums.parent], capture_output=True).returncode, 0)
        subprocess.run(["sha256sum", "--check", "--strict", sums.name], cwd=sums.parent, check=True, capture_output=True)
        self.assertEqual([line.split()[1] for line in sums.read_text().splitlines()], ["capgate-0.1.0-linux-x86_64.tar.gz", wheel.name])
        with zipfile.ZipFile(wheel) as files:
            names = set(files.namelist())
            metadata = files.read("capgate-0.1.0.dist-info/METADATA").decode()
        for name in ("capgate_marks.py", "capgate_verify.py", "capgate_verify_arrays.py", "capgate_evidence.py", "capgate/bin/capgate",
                     "capgate/lib/libcapgate_preload.so", "capgate/pytest_plugin.py", "capgate/region_fn/sitecustomize.py"):  # fmt: skip
            self.assertIn(name, names)
        self.assertTrue(any(name.endswith("THIRD_PARTY.txt") for name in names), names)
        self.assertIn("Requires-Python: >=3.9", metadata)
        self.assertNotIn("Requires-Dist", metadata)
        self.use(wheel)

    def use(self, wheel):
        site = self.here / "site"
        install = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--target", site, wheel]
        done = subprocess.run(install, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        # The real program and its detector, in the place of those that stood in.
        for name in ("bin/capgate", "lib/libcapgate_preload.so"):
            self.assertEqual((site / "capgate" / name).stat().st_mode & 0o111, 0o111)
            shutil.copy(CAPGATE.parent.parent / name, site / "capgate" / name)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CAPGATE")} | {"PYTHONPATH": str(site)}

        def python(*words):
            return subprocess.run([sys.executable, *words], cwd=self.here, env=environment, capture_output=True, text=True)

        for words in (["-m", "capgate"], [site / "bin/capgate"]):
            done = python(*words, "analyze", TRACE, "--out", "report.json")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertEqual((self.here / "report.json").read_bytes(), TRACE.with_suffix(".json").read_bytes())
        done = python("-m", "capgate", "audit", "--out", "audit.json", "--", "printenv", "CAPGATE_PRELOAD")
        self.assertEqual(done.stdout.strip(), str((site / "capgate/lib/libcapgate_preload.so").resolve()))
        self.assertEqual(python("-c", "import capgate_marks; capgate_marks.region_begin('x')").returncode, 0)
        environment["CAPGATE"] = str(self.here / "missing")
        done = python("-m", "capgate")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot start", done.stderr)


if __name__ == "__main__":
    if os.environ.get("CAPGATE_SANITIZE"):
        print("skipped: a sanitizer brings its own run-time library")
        sys.exit(77)
    unittest.main()
