#!/usr/bin/env python3
"""The pages about versions name the versions that the code has."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def constant(path, name):
    found = re.search(rf"\b{name}\b(?:\[\])? = \"?([\w/-]+)", read(path))
    if not found:
        raise AssertionError(f"{path} does not define {name}")
    return found[1]


class Versions(unittest.TestCase):
    def today(self):
        """{the file's kind: the version that docs/compatibility.md gives}"""
        lines = [line for line in read("docs/compatibility.md").splitlines() if line.startswith("| ") and "---" not in line]
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        return {row[0]: row[1] for row in rows[1:]}

    def test_the_page_has_the_versions_that_the_code_writes(self):
        today = self.today()
        self.assertEqual(today["raw trace"], constant("detector/trace/format.h", "kVersion"))
        self.assertEqual(today["sealed trace (`.cgtrace`)"], constant("detector/seal/sealed_file.h", "kSealVersion"))
        self.assertEqual(today["report (JSON)"], constant("reports/model/report.h", "kSchema"))

    def test_the_files_that_the_page_names_exist(self):
        for path in re.findall(r"`((?:detector|reports|tests)/[\w./-]+)`", read("docs/compatibility.md")):
            with self.subTest(path=path):
                self.assertTrue((ROOT / path).exists())

    def test_the_change_log_has_the_version_that_is_built(self):
        version = re.search(r"project\(capgate VERSION ([\d.]+)", read("CMakeLists.txt"))[1]
        newest = re.search(r"^## (.+)$", read("CHANGELOG.md"), re.MULTILINE)[1]
        self.assertIn(version, newest)


if __name__ == "__main__":
    unittest.main()
