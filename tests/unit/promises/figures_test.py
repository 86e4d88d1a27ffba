"""Figures on pages are those of the code, of its tests or of a measurement. Nothing is run."""

import collections
import json
import re
import unittest

from promise import SOURCE, promise, text_of

ACCEPTS = "docs/design/2026-11-29-what-capture-accepts.md"
# page; words around the figures, a group for each; where each figure comes from: file, expression with one group
FIGURES = [
    ("docs/page.md", r"opens a report with ([\d,]+) findings and a graph of ([\d,]+) nodes", [
        ("reports/viewer/tests/bench/speed_test.ts", r"largeReport\(([\d_]+), \d+\)"),
        ("reports/viewer/tests/bench/speed_test.ts", r"largeReport\([\d_]+, (\d+)\)"),
    ]),
    ("docs/page.md", r"(\d+) ms for a filter, (\d+) ms for a scroll event, and at most (\d+) rows", [
        ("reports/viewer/tests/bench/speed_test.ts", r"'filter by text': (\d+)"),
        ("reports/viewer/tests/bench/speed_test.ts", r"'scroll the list': (\d+)"),
        ("reports/viewer/tests/e2e/findings_test.ts", r"toBeLessThan\((\d+)\)"),
    ]),
    ("docs/page.md", r"shortens a text of more than ([\d,]+) bytes", [("reports/viewer/page_data.cpp", r"kLongestText = (\d+)")]),
    ("docs/page.md", r"with Node ([\d.]+) or later", [("reports/viewer/package-lock.json", r'"node": "\^(20\.\d+)\.0')]),
    ("docs/ci.md", r"at most ([\d,]+) results", [("reports/formats/sarif.cpp", r"kMostResults = ([\d']+)")]),
    ("docs/lint.md", r"Commands are translated for clang (\d+)", [("static_checks/CMakeLists.txt", r"llvm-(\d+) CACHE")]),
    ("docs/glossary.md", r"an error from (\d+) to (\d+)", [
        ("detector/analysis/results.h", r"result >= (\d+)"), ("detector/analysis/results.h", r"result <= (\d+)"),
    ]),
    ("README.md", r"the CUDA toolkit ([\d.]+) or later", [("scripts/deps", r"install CUDA ([\d.]+) or later")]),
    ("README.md", r"Python lines are read from CPython 3\.8 to (3\.\d+), exceptions from (3\.\d+) on", [
        ("detector/preload/python/python_frames.cpp", r'"(3\.\d+)\.", \d\) != 0'),
        ("detector/preload/python/python_exceptions.cpp", r'if \(strncmp\(version, "(3\.\d+)\."'),
    ]),
]  # fmt: skip


def number(text):
    return re.sub(r"[,_']", "", text)


def is_harmless(outcome):
    return outcome[:3] == (0, "active", 0)


class Figures(unittest.TestCase):
    def test_are_those_of_the_code(self):
        for page, words, sources in FIGURES:
            with self.subTest(page=page, words=words):
                on_page = re.search(words, text_of(page))
                self.assertTrue(on_page, "the sentence is gone")
                self.assertEqual(len(on_page.groups()), len(sources))
                for figure, (path, expression) in zip(on_page.groups(), sources):
                    in_code = re.search(expression, (SOURCE / path).read_text(encoding="utf-8"))
                    self.assertTrue(in_code, f"{path} has no {expression}")
                    self.assertEqual(number(figure), number(in_code[1]), path)

    @promise("docs/design/front-end.md", "There are 16 of them, all in `static_checks/frontend` and `static_checks/lowering`.")
    def test_of_sources_that_include_clangs_tree(self):
        headers = {
            path.relative_to(SOURCE).as_posix(): re.findall(r'#include ["<]([^">]+)', path.read_text(encoding="utf-8"))
            for path in (SOURCE / "static_checks").rglob("*")
            if path.suffix in {".h", ".cpp"}
        }

        def reached(file, seen):
            if file in headers and file not in seen:
                seen.add(file)
                for name in headers[file]:
                    reached(name, seen)
            return seen

        with_tree = [
            file
            for file in headers
            if file.endswith(".cpp") and any(name.startswith("clang/") for other in reached(file, set()) for name in headers[other])
        ]
        self.assertEqual(len(with_tree), 16, sorted(with_tree))
        folders = {file.rsplit("/", 1)[0] for file, names in headers.items() if any(name.startswith(("clang/", "llvm/")) for name in names)}
        self.assertEqual(folders, {"static_checks/frontend", "static_checks/lowering"})

    @promise("docs/design/front-end.md", "skipping them saves 18 % of the parse.")
    def test_of_the_parsers_come_from_their_table(self):
        text = (SOURCE / "docs/design/front-end.md").read_text(encoding="utf-8")
        rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in re.findall(r"^\|.*\|$", text, re.MULTILINE)]
        units = [row for row in rows if row[0].endswith(("cc`", "cu`"))]
        self.assertEqual(len(units), 8)
        (together,) = [row for row in rows if row[0] == "together"]
        c, cxx, skipped = (sum(float(row[column]) for row in units) for column in (1, 2, 3))
        self.assertEqual([f"{sum_of:.1f}" for sum_of in (c, cxx, skipped)], together[1:4])
        self.assertEqual(sum(int(row[7]) for row in units), int(together[7]))
        overriders, explicit = (sum(int(row[8].split(", ")[at]) for row in units) for at in (0, 1))
        self.assertEqual(f"{overriders}, {explicit}", together[8])
        self.assertEqual(round(100 * (cxx - skipped) / cxx), 18)

    @promise("docs/page.md", "It is about 95 KB plus the report.", "It allows 1 s of work for the first screen")
    def test_of_the_page(self):
        size = (SOURCE / "reports/viewer/dist/page.html").stat().st_size
        self.assertAlmostEqual(size / 1024, 90, delta=10)
        self.assertIn("'first screen': 1000", (SOURCE / "reports/viewer/tests/bench/speed_test.ts").read_text(encoding="utf-8"))

    @promise("docs/design/torch-blocks.md", "The table holds 262,144 blocks.", "the innermost six frames decide which stack it is.")
    def test_of_torchs_blocks(self):
        table = (SOURCE / "detector/preload/memory/block_table.h").read_text(encoding="utf-8")
        self.assertEqual(1 << int(re.search(r"kMost = 1u << (\d+)", table)[1]), 262_144)
        self.assertIn("kFrames = 6;", (SOURCE / "detector/preload/python/python_frames.cpp").read_text(encoding="utf-8"))

    @promise("docs/design/exceptions-in-a-capture.md", "a note from three more after the first replay, a warning from eight")
    def test_of_recordings(self):
        rule = (SOURCE / "detector/analysis/rules/notices.cpp").read_text(encoding="utf-8")
        self.assertIn("kNoteFrom = 3, kWarningFrom = 8", rule)

    @promise("docs/design/graphs.md", "| `cudaMemcpyBatchAsync` on a capturing stream | 900, and the capture lives on |")
    @promise("docs/design/graphs.md", "| an update with another kind of node | 910,")
    def test_of_refusals_are_recorded(self):
        for program, api, result, words in (
            ("dropped_batch_copy", "cudaMemcpyBatchAsync", "(900)", "lived on"),
            ("ignored_update", "cudaGraphExecUpdate", "910", "the new graph has other nodes or edges"),
        ):
            report = json.loads((SOURCE / f"tests/traces/cpp/{program}.faulty.json").read_text(encoding="utf-8"))
            (fault,) = [fault for fault in report["violations"] if fault.get("api") == api]
            self.assertIn(result, fault["result"])
            self.assertIn(words, fault["message"])

    def test_of_the_calls_that_captures_accept_are_measured(self):
        cells = json.loads((SOURCE / "docs/measured/legality.json").read_text(encoding="utf-8"))["cells"]
        calls = collections.defaultdict(dict)
        for cell in cells:
            if cell["stream"] == "nonblocking":
                calls[cell["call"]][cell["mode"], cell["thread"]] = cell["result"], cell["status"], cell["end"]
        page = text_of(ACCEPTS)
        self.assertIn(f"{len(calls)} calls, twelve cells each", page)
        self.assertEqual(len(cells), 12 * len(calls))
        unsafe = {("global", "same"), ("thread_local", "same"), ("global", "other")}
        classes = collections.Counter()
        for call, outcomes in calls.items():
            refused = {where for where, outcome in outcomes.items() if outcome[0] == 900}
            let_through = all(is_harmless(outcome) for where, outcome in outcomes.items() if where not in refused)
            if let_through and refused in (set(), unsafe):
                classes["unsafe" if refused else "harmless to the capture"] += 1
            elif refused == set(outcomes) and "BeginCapture" not in call:
                classes["refused whatever the mode and the thread"] += 1
            else:
                classes["with an error of their own"] += 1
        on_page = {name: int(count) for name, count in re.findall(r"\| ([a-z][\w ]+) \| (\d+) \|", page.split("## Confirmed")[0])}
        self.assertEqual(on_page, dict(classes))

    def test_every_row_that_the_page_names_is_measured(self):
        rows = set(re.findall(r"^\| `(.+?)` \|", (SOURCE / "docs/measured/legality.md").read_text(encoding="utf-8"), re.MULTILINE))
        named = [name for name in re.findall(r"`([^`]+)`", text_of(ACCEPTS).split("## Two devices")[0]) if name.startswith("cu")]
        self.assertGreater(len(named), 50)
        for name in named:
            self.assertTrue(any(row.startswith(name.partition("…")[0]) for row in rows), name)

    def test_every_line_of_the_debugging_table_is_printed(self):
        table = re.search(
            r"^\| line \| meaning \|\n(.*?)\n\n", (SOURCE / "docs/debugging.md").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
        )
        code = "".join(path.read_text(encoding="utf-8") for path in (SOURCE / "detector/preload").rglob("*.cpp"))
        code += (SOURCE / "detector/trace/format.h").read_text(encoding="utf-8")
        lines = [re.search(r"`([^`]+)`", row)[1] for row in table[1].splitlines()[1:] if row.startswith("| `")]
        self.assertGreater(len(lines), 6)
        for line in lines:
            for words in re.split(r"…|NAME|FILE|: ", line):
                if len(words.strip(" :")) > 4:
                    self.assertIn(words.strip(" :"), code, line)

    def test_the_audited_step_waits_where_the_page_says(self):
        page = text_of("docs/example-deepseek-v4.md")
        report = json.loads((SOURCE / "tests/traces/python/deepseek_v4_step.faulty.json").read_text(encoding="utf-8"))
        waits = [fault for fault in report["violations"] if fault["rule"] == "host-sync"]
        lines = {(fault["location"]["file"], fault["location"]["line"]) for fault in waits}
        in_loop = {place for place in lines if place[0].endswith("modeling_deepseek_v4.py")}
        words = ["no", "one", "two", "three", "four", "five", "six", "seven"]
        self.assertIn(f"the host waits at {words[len(lines)]} lines", page)
        self.assertIn(f"{words[len(in_loop)].capitalize()} of the lines are in the loop", page)
        self.assertIn(f"one cause with {words[sum('symptom_of' in fault for fault in waits)]} symptoms", page)
        self.assertIn(f"six lines, {sum(fault['per_step']['count'] for fault in waits):.0f} times per step,", page)


if __name__ == "__main__":
    unittest.main()
