"""A release's archives: the same files give the same bytes, and their checksums are those that sha256sum computes."""

import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "packaging"))
from archive import checksums, pack  # noqa: E402


class Archive(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = pathlib.Path(folder.name)

    def tree(self, name, seconds, umask, order):
        files = {"bin/program": b"\x7fELF", "README.txt": b"words\n", "share/empty": b""}
        before = os.umask(umask)
        self.addCleanup(os.umask, before)
        root = self.here / name / "capgate-1.0"
        for path in sorted(files, reverse=order):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(files[path])
            os.utime(root / path, (seconds, seconds))
        (root / "bin/program").chmod(0o700 if umask else 0o775)
        return root

    def test_same_files_give_same_bytes(self):
        pack(self.tree("one", 1_000_000_000, 0o022, False), self.here / "one.tar.gz", 1_700_000_000)
        pack(self.tree("two", 1_500_000_000, 0o077, True), self.here / "two.tar.gz", 1_700_000_000)
        self.assertEqual((self.here / "one.tar.gz").read_bytes(), (self.here / "two.tar.gz").read_bytes())
        with tarfile.open(self.here / "one.tar.gz") as archive:
            modes = {member.name: member.mode for member in archive if member.isfile()}
        self.assertEqual(modes, {"capgate-1.0/README.txt": 0o644, "capgate-1.0/bin/program": 0o755, "capgate-1.0/share/empty": 0o644})

    def test_another_byte_gives_another_archive(self):
        tree = self.tree("one", 1_000_000_000, 0o022, False)
        pack(tree, self.here / "one.tar.gz", 1_700_000_000)
        (tree / "README.txt").write_bytes(b"Words\n")
        pack(tree, self.here / "two.tar.gz", 1_700_000_000)
        self.assertNotEqual((self.here / "one.tar.gz").read_bytes(), (self.here / "two.tar.gz").read_bytes())

    def test_a_link_is_refused(self):
        tree = self.tree("one", 1_000_000_000, 0o022, False)
        (tree / "link").symlink_to("/etc/passwd")
        with self.assertRaisesRegex(ValueError, "link: a release has files and folders only"):
            pack(tree, self.here / "one.tar.gz", 0)

    def test_checksums_are_those_of_sha256sum(self):
        pack(self.tree("one", 0, 0o022, False), self.here / "one.tar.gz", 0)
        (self.here / "SHA256SUMS").write_text(checksums([self.here / "one.tar.gz"]))
        subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=self.here, check=True, capture_output=True)


if __name__ == "__main__":
    unittest.main()
