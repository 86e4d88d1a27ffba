#!/usr/bin/env python3
"""How the sources are laid out: no two folders include each other, and no file and no folder grows without end."""

import collections
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
CODE = ("base", "cli", "detector", "engine", "examples", "kernels", "reports", "static_checks")
SOURCES = {".h", ".c", ".cpp", ".cu", ".cuh", ".inc"}

# Folders that include each other today. The list may only get shorter.
KNOWN_CYCLES = []

# Files: the limits of these parts.
LIMITED = ("base", "cli", "detector", "reports", "static_checks")
MOST_BYTES = 12 << 10
MOST_BYTES_OF_A_TABLE = 16 << 10
# A table is read row by row; half of it in another file would only have to be looked for.
TABLES = {
    "static_checks/commands/nvcc_arguments.cpp": "the options of nvcc",
}
# Longer today, and not to grow: bytes. The list may only get shorter.
KNOWN_LONG = {
    "static_checks/interpret/interpreter.h": 16200,
}

# Folders: the limit of the whole tree, in sources. Headers are not counted, since a source has its own.
COUNTED = {".c", ".cpp", ".cu", ".py", ".ts", ".tsx"}
MOST_SOURCES = 15
# Rules, kernels and labelled programs are found by their names, one a file: there are as many as there are.
COLLECTIONS = ("detector/analysis/rules", "kernels", "static_checks/rules", "tests/corpus", "tests/corpus_static", "tests/healthy")
# More today, and not to grow. The list may only get shorter.
KNOWN_FULL = {}


def tracked():
    """Files of the checkout, by name: what git knows, or where there is no git, what lies there."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        return [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]
    skipped = {"build", "bundle", "node_modules"}
    files = (file.relative_to(ROOT) for file in ROOT.rglob("*") if file.is_file())
    return [file.as_posix() for file in files if not skipped & set(file.parts)]


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
        files = {name: ROOT / name for name in tracked() if name.startswith(tuple(f"{part}/" for part in LIMITED))}
        sizes = {name: file.stat().st_size for name, file in files.items() if file.suffix in SOURCES | COUNTED}
        self.assertGreater(len(sizes), 150)
        for name, size in sizes.items():
            limit = MOST_BYTES_OF_A_TABLE if name in TABLES else MOST_BYTES
            self.assertLessEqual(size, KNOWN_LONG.get(name, limit), f"{name}: divide it by what it does")
        for name in KNOWN_LONG:
            self.assertGreater(sizes.get(name, 0), MOST_BYTES, f"{name}: take it off the list of long files")
        for name in TABLES:
            self.assertGreater(sizes.get(name, 0), MOST_BYTES, f"{name}: take it off the list of tables")

    def test_no_folder_is_too_full(self):
        counts = collections.Counter(str(pathlib.PurePath(name).parent) for name in tracked() if pathlib.PurePath(name).suffix in COUNTED)
        self.assertGreater(len(counts), 80)
        for folder, count in counts.items():
            if not any(f"{folder}/".startswith(f"{part}/") for part in COLLECTIONS):
                self.assertLessEqual(count, KNOWN_FULL.get(folder, MOST_SOURCES), f"{folder}: divide it by what its files do")
        for folder in KNOWN_FULL:
            self.assertGreater(counts[folder], MOST_SOURCES, f"{folder}: take it off the list of full folders")


if __name__ == "__main__":
    unittest.main()
