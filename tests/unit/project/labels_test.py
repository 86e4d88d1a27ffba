#!/usr/bin/env python3
"""ctest's labels reach the tests that they are written for."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]


def lost(text):
    """Lists of labels of which gtest_discover_tests would keep the first only: it takes the rest for another property."""
    return [labels for labels in re.findall(r'gtest_discover_tests\([^)]*LABELS\s+"([^"]*)"', text) if ";" in labels.replace("\\\\;", "")]


class Labels(unittest.TestCase):
    def test_no_label_is_lost(self):
        files = sorted((ROOT / "tests").rglob("CMakeLists.txt"))
        self.assertGreater(len(files), 20)
        for file in files:
            self.assertEqual(lost(file.read_text(encoding="utf-8")), [], f"{file}: write \\\\; between labels")

    def test_a_lost_label_is_found(self):
        self.assertEqual(lost('gtest_discover_tests(t PROPERTIES LABELS "unit;detector")'), ["unit;detector"])
        self.assertEqual(lost('gtest_discover_tests(t PROPERTIES LABELS "unit\\\\;detector")'), [])
        self.assertEqual(lost("gtest_discover_tests(t PROPERTIES LABELS unit)"), [])


if __name__ == "__main__":
    unittest.main()
