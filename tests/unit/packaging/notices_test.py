"""Whose licences a release carries: of the packages that own what was compiled and linked, each text once."""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "packaging"))
from notices import archives_linked, licence, notices, packages_of, page_notice  # noqa: E402

PAGE = ROOT / "reports/viewer/dist/page.html"
MAP = """Archive member included to satisfy reference by file (symbol)

/usr/lib/x86_64-linux-gnu/libz.a(inflate.o)
                              cli/a.o (inflate)
/usr/lib/x86_64-linux-gnu/libz.a(crc32.o)
                              /usr/lib/x86_64-linux-gnu/libz.a(inflate.o) (crc32)
base/libcapgate_fmt.a(fmt.cpp.o)
                              cli/a.o (fmt)

LOAD /usr/lib/x86_64-linux-gnu/libelf.a
"""


class Notices(unittest.TestCase):
    def test_an_archive_counts_when_a_member_of_it_was_linked(self):
        self.assertEqual(archives_linked([MAP]), {"/usr/lib/x86_64-linux-gnu/libz.a"})

    def test_the_packages_are_those_that_own_the_files(self):
        files = ["/usr/include/CLI/CLI.hpp", "/usr/lib/x86_64-linux-gnu/libz.a", "/nowhere/own.h"]
        self.assertEqual(packages_of(files), ["libcli11-dev", "zlib1g-dev"])

    def test_each_text_is_there_once(self):
        with tempfile.TemporaryDirectory() as folder:
            older = pathlib.Path(folder) / "usr/share/doc/libgcc-10-dev"
            older.mkdir(parents=True)
            (older / "copyright").write_text("The runtime library exception\n")
            text = notices(["libcli11-dev", "zlib1g-dev", "zlib1g-dev"], PAGE, folder)
        self.assertEqual(text.count(licence("libcli11-dev")), 1)
        self.assertEqual(text.count(licence("zlib1g-dev")), 1)
        self.assertEqual(text.count("The runtime library exception"), 1)
        self.assertIn(page_notice(PAGE), text)
        self.assertIn("preact", page_notice(PAGE))

    def test_a_package_without_a_licence_text_is_no_notice(self):
        with self.assertRaisesRegex(ValueError, "no-such-package"):
            licence("no-such-package")


if __name__ == "__main__":
    unittest.main()
