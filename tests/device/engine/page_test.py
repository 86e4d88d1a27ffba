#!/usr/bin/env python3
"""docs/host-and-device.md names what there is: files, functions in them, rules, tests and planted faults.

    page_test.py [PAGE]
"""

import re
import sys
import tomllib
import unittest
from pathlib import Path

from planted_faults import planted_faults

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/unit/docs"))

from named_places import named_places, wrong_places

PAGE = "docs/host-and-device.md"
ROWS = {"What depends on data": 15, "Where a CPU hides": 15}


def gtests():
    text = "".join(p.read_text(encoding="utf-8") for area in ("engine", "kernels") for p in (ROOT / "tests/unit" / area).glob("*.cpp"))
    return {f"{suite}.{name}" for suite, name in re.findall(r"^TEST(?:_F|_P)?\((\w+), (\w+)\)", text, re.MULTILINE)}


def ctests():
    files = [*(ROOT / "tests").rglob("CMakeLists.txt")]
    text = "".join(p.read_text(encoding="utf-8") for p in files)
    names = set(re.findall(r"add_test\(NAME ([\w.$\{\}]+)", text))
    golden = [path.stem for path in (ROOT / "tests/golden/engine").glob("*.safetensors")]
    return {name.replace("${golden}", g).replace("${name}", g) for name in names for g in golden}


def tables(text):
    """{heading: [cells of a row]}"""
    found, heading = {}, None
    for line in text.splitlines():
        if line.startswith("## "):
            heading = line[3:]
        elif line.startswith("| ") and not line.startswith(("| ---", "| what |", "| mode |")):
            found.setdefault(heading, []).append([cell.strip() for cell in line.strip("|").split("|")])
    return found


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = (ROOT / PAGE).read_text(encoding="utf-8")
        cls.tables = tables(cls.text)
        cls.rules = {rule["id"] for rule in tomllib.loads((ROOT / "reports/catalogue/rules.toml").read_text(encoding="utf-8"))["rule"]}
        cls.tests = gtests() | ctests()

    def test_every_row_is_whole(self):
        self.assertEqual({heading: len(rows) for heading, rows in self.tables.items() if heading in ROWS}, ROWS)
        for heading in ROWS:
            for row in self.tables[heading]:
                with self.subTest(row=row[0]):
                    self.assertEqual(len(row), 4)
                    _, engine, rule, proof = row
                    self.assertRegex(engine, r"`[\w/.]+\.(cu|cuh|cpp|h)(: \w+)?`")
                    named = set(re.findall(r"`([a-z-]+)`", rule))
                    self.assertTrue(named or rule.startswith("no rule: "), rule)
                    self.assertLessEqual(named, self.rules)
                    tests = {name for name in re.findall(r"`([\w.]+)`", proof) if "." in name}
                    self.assertTrue(tests, proof)
                    self.assertLessEqual(tests, self.tests)
                    faults = set(re.findall(r"`(\w+)`", proof.partition("(")[2]))
                    self.assertLessEqual(faults, set(planted_faults()))

    def test_every_mode_is_there(self):
        names = re.search(r"mode_of\(.*?\n}", (ROOT / "engine/cuda/capture/modes.cpp").read_text(encoding="utf-8"), re.DOTALL)[0]
        self.assertEqual({row[0].strip("`") for row in self.tables["Modes"]}, {"eager", *re.findall(r'"(\w+)"', names)})

    def test_files_and_functions_are_there(self):
        self.assertGreater(len(list(named_places(self.text))), 25)
        self.assertEqual(list(wrong_places(self.text)), [])

    def test_tests_named_in_the_text_are_there(self):
        for name in re.findall(r"`(engine\.\w+|kernels\.[\w.]+)`", self.text):
            self.assertIn(name, self.tests)
        for suite in re.findall(r"`(CudaStep|LaneKernels|StepKernels|MatrixKernels)`", self.text):
            self.assertTrue(any(test.startswith(suite + ".") for test in self.tests))


if __name__ == "__main__":
    unittest.main()
