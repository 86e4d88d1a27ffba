#!/usr/bin/env python3
"""How the sources lie: no two folders include each other, however many folders are between them, and no file grows without end."""

import pathlib
import re
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
CODE = ("base", "cli", "detector", "engine", "examples", "kernels", "reports", "static_checks")
SOURCES = {".h", ".c", ".cpp", ".cu", ".cuh", ".inc"}

# Folders that include each other today. The list may only get shorter.
KNOWN_CYCLES = [
    {"engine/model", "engine/reference"},
    {"static_checks/cache", "static_checks/worker"},
    {"static_checks/interpret", "static_checks/models", "static_checks/rules"},
]

LIMITED = ("base", "cli", "detector", "reports")
MOST_BYTES = 16 << 10
# Longer today, and not to grow. The list may only get shorter.
KNOWN_LONG = {
    "detector/preload/calls/gen_calls.py": 20 << 10,
}


def includes(root, parts):
    """{folder: {folder that one of its files includes: that file}}"""
    graph = {}
    for part in parts:
        for file in sorted((root / part).rglob("*")):
            if file.suffix not in SOURCES or not file.is_file():
                continue
            folder = file.parent.relative_to(root).as_posix()
            graph.setdefault(folder, {})
            for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', file.read_text(encoding="utf-8"), re.MULTILINE):
                found = next((p for p in (root / name, file.parent / name) if p.is_file()), None)
                if found is None:  # generated, or a library's
                    continue
                other = found.resolve().parent.relative_to(root).as_posix()
                if other != folder:
                    graph[folder].setdefault(other, file.relative_to(root).as_posix())
    return graph


def cycles(graph):
    """The sets of folders in which each reaches each."""

    def reached(start):
        seen, todo = set(), [start]
        while todo:
            for other in graph.get(todo.pop(), {}):
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return seen

    reach = {folder: reached(folder) for folder in graph}
    found = []
    for folder in sorted(graph):
        ring = {other for other in reach[folder] if folder in reach.get(other, set())}
        if ring and ring not in found:
            found.append(ring)
    return found


def told(ring, graph):
    return "; ".join(f"{file} includes {other}" for folder in sorted(ring) for other, file in graph[folder].items() if other in ring)


class SourceTree(unittest.TestCase):
    def test_no_folders_include_each_other(self):
        graph = includes(ROOT, CODE)
        self.assertGreater(len(graph), 20)
        for ring in cycles(graph):
            if not any(ring <= known for known in KNOWN_CYCLES):
                self.fail(f"{', '.join(sorted(ring))} include each other: {told(ring, graph)}")

    def test_a_cycle_is_found_with_the_files_that_make_it(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            for name, text in {
                "base/a.h": "",
                "cli/one/x.h": '#include "base/a.h"\n#include "cli/two/y.h"\n',
                "cli/two/y.h": '#include "cli/three/z.h"\n',
                "cli/three/z.h": "",
            }.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            self.assertEqual(cycles(includes(root, ("base", "cli"))), [])
            (root / "cli/three/z.cpp").write_text('#include "../one/x.h"\n')
            graph = includes(root, ("base", "cli"))
            (ring,) = cycles(graph)
            self.assertEqual(ring, {"cli/one", "cli/two", "cli/three"})
            self.assertIn("cli/three/z.cpp includes cli/one", told(ring, graph))

    def test_no_file_is_too_long(self):
        files = [file for part in LIMITED for file in (ROOT / part).rglob("*") if file.suffix in SOURCES | {".py"} and file.is_file()]
        self.assertGreater(len(files), 150)
        for file in files:
            name = file.relative_to(ROOT).as_posix()
            allowed = KNOWN_LONG.get(name, MOST_BYTES)
            self.assertLessEqual(file.stat().st_size, allowed, f"{name}: divide it by what it does")


if __name__ == "__main__":
    unittest.main()
