"""What a program needs of the machine that runs it is read from the program itself."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "packaging"))
from portable import complaints, libraries, symbol_versions  # noqa: E402

OLD = 'int puts(const char*); int say(void) { return puts("x"); }'
# gettid came with glibc 2.30, closefrom with 2.34.
NEW = "int gettid(void); void closefrom(int); int both(void) { closefrom(9); return gettid(); }"


class Portable(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = pathlib.Path(folder.name)

    def library(self, text, *options):
        (self.here / "code.c").write_text(text)
        out = self.here / "library.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-nostartfiles", "-o", out, self.here / "code.c", *options], check=True)
        return out

    def test_old_functions_are_fine(self):
        library = self.library(OLD)
        self.assertEqual((libraries(library), symbol_versions(library)), (["libc.so.6"], ["GLIBC_2.2.5"]))
        self.assertEqual(complaints(library), [])

    def test_a_newer_function_is_named_with_its_version(self):
        library = self.library(NEW)
        self.assertEqual(complaints(library, "2.31"), [f"{library} needs GLIBC_2.34, which glibc 2.31 does not have"])
        self.assertEqual(len(complaints(library, "2.29")), 2)
        self.assertEqual(complaints(library, "2.34"), [])

    def test_another_library_is_named(self):
        library = self.library(OLD, "-Wl,--no-as-needed", "-lstdc++")
        self.assertEqual(complaints(library), [f"{library} needs libstdc++.so.6, which glibc does not have"])

    def test_a_folder_of_this_machine_is_named(self):
        self.assertEqual(complaints(self.library(OLD, "-Wl,-rpath,$ORIGIN/../lib")), [])
        library = self.library(OLD, "-Wl,-rpath,/opt/lib")
        self.assertEqual(complaints(library), [f"{library} looks for libraries in /opt/lib"])

    def test_what_is_no_program_is_refused(self):
        text = self.here / "text"
        text.write_text("words")
        with self.assertRaisesRegex(ValueError, "text"):
            complaints(text)


if __name__ == "__main__":
    unittest.main()
