#!/usr/bin/env python3
"""The pages for people who work on capgate name what there is, and the sources keep the boundaries that a page draws."""

import re
import unittest

from named_places import ROOT, is_defined, named_places, wrong_places

ARCHITECTURE = "docs/architecture.md"
PAGES = [ARCHITECTURE, "docs/debugging.md", "docs/glossary.md"]
PRELOAD = "detector/preload"
DIVIDED = [PRELOAD, "reports"]
SOURCES = {".h", ".c", ".cpp", ".cu", ".cuh"}


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def rows(text, head):
    """The cells of the table that begins with this head."""
    table = text.split(f"| {head} |", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def folders(cell):
    return set(re.findall(r"`([\w/]+)`", cell))


def boundaries(text):
    """{folder: folders that it may include}"""
    return {folders(folder).pop(): folders(may) for folder, may in rows(text, "folder | may include")}


def boundaries_inside(part, text):
    """The same between the part's own folders."""
    table = {folders(folder).pop(): may for folder, _, may in rows(text, f"folder in `{part}` | contents | may include")}
    allowed = {folder: set(table) - {folder} if may == "all of them" else folders(may) for folder, may in table.items()}
    return {f"{part}/{folder}": {f"{part}/{other}" for other in may} for folder, may in allowed.items()}


def top_of(folder):
    return PRELOAD if folder.startswith(PRELOAD + "/") else folder.split("/")[0]


def includes(root, folders):
    """{(folder, included folder): one file that does}, between the folders given."""

    def owner(path):
        return max((folder for folder in folders if path.startswith(folder + "/")), key=len, default=None)

    found = {}
    for top in sorted({top_of(folder) for folder in folders}):
        for file in sorted((root / top).rglob("*")):
            if file.suffix not in SOURCES:
                continue
            path = file.relative_to(root).as_posix()
            for name in re.findall(r'^#include ["<]([\w./-]+)[">]', file.read_text(encoding="utf-8"), re.MULTILINE):
                name = f"detector/include/{name}" if name.startswith("capgate/") else name
                if owner(name) not in (None, owner(path)):
                    found.setdefault((owner(path), owner(name)), path)
    return found


class Pages(unittest.TestCase):
    def test_every_place_that_is_named_is_there(self):
        for page in PAGES:
            with self.subTest(page=page):
                self.assertEqual(list(wrong_places(read(page))), [])

    def test_the_architecture_page_follows_its_ways_by_function(self):
        text = read(ARCHITECTURE)
        for way, least in {"One API call": 20, "One source line": 15, "A token": 8}.items():
            section = text.split(f"\n## {way}", 1)[1].split("\n## ", 1)[0]
            self.assertGreaterEqual(len({place for place in named_places(section) if place[1]}), least, way)

    def test_links_lead_somewhere(self):
        for page in PAGES:
            for target in re.findall(r"\]\(([^)#]+)\)", read(page)):
                if not target.startswith("http"):
                    self.assertTrue(((ROOT / page).parent / target).exists(), f"{page}: {target}")

    def test_a_place_that_is_not_there_is_reported(self):
        self.assertEqual(list(wrong_places("`cli/nowhere.cpp`, `cli/NAME.cpp`")), ["there is no cli/nowhere.cpp"])
        self.assertEqual(list(wrong_places("`cli/main.cpp: no_such_function`")), ["cli/main.cpp does not define no_such_function"])

    def test_a_call_is_not_a_definition(self):
        self.assertFalse(is_defined("judge", "void f() {\n  judge(1);\n  return judge(2);\n}\n"))
        self.assertTrue(is_defined("judge", "Result<int> judge(int a,\n          int b) {\n"))
        self.assertTrue(is_defined("Judge", "class Judge {\n"))
        self.assertTrue(is_defined("kMost", "constexpr int kMost = 4;\n"))


class Boundaries(unittest.TestCase):
    def hold(self, allowed):
        found = includes(ROOT, allowed)
        self.assertTrue(found)
        for (folder, other), file in found.items():
            self.assertIsNotNone(folder, f"{file} is in no folder of {ARCHITECTURE}")
            self.assertIn(other, allowed[folder], f"{file} includes {other}")
        return found

    def test_no_folder_includes_what_the_page_does_not_allow(self):
        allowed = boundaries(read(ARCHITECTURE))
        found = self.hold(allowed)
        unused = {(folder, other) for folder, may in allowed.items() for other in may} - set(found)
        self.assertEqual(unused, set(), "allowed, and no file does it")

    def test_no_folder_inside_a_part_does(self):
        for part in DIVIDED:
            with self.subTest(part=part):
                allowed = boundaries_inside(part, read(ARCHITECTURE))
                on_disk = {f"{part}/{path.name}" for path in (ROOT / part).iterdir() if path.is_dir() and any(path.glob("*.h"))}
                self.assertEqual(set(allowed), on_disk)
                self.hold(allowed)


if __name__ == "__main__":
    unittest.main()
