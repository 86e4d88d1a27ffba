"""What docs/ci.md promises of gate, export and the files that are kept, where the tests of those commands do not look."""

import json
import os
import shutil
import unittest

from promise import GOLDEN, TRACES, Promises, needs_lint, promise

PAGE = "docs/ci.md"
CAPTURE = """
#include <cuda_runtime.h>
void step(cudaStream_t s) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  cudaStreamEndCapture(s, &graph);
}
"""


class CiPage(Promises):
    def with_faults(self, count):
        """A report with so many errors of one fix, each in a file of its own."""
        report = json.loads((GOLDEN / "failed_run.json").read_text(encoding="utf-8"))
        fault = next(fault for fault in report["violations"] if fault["rule"] == "host-sync" and fault["severity"] == "error")
        report["violations"] = [
            fault | {"id": f"{i:016x}", "location": {"file": f"a{i}.cu", "line": 3, "function": "f"}, "suppressed": None}
            for i in range(count)
        ]
        report["summary"] = {"errors": count, "warnings": 0, "notes": 0, "suppressed": 0, "by_rule": {"host-sync": count}}
        return self.write("many.json", json.dumps(report))

    @promise(
        PAGE, "each fix is printed once.", "`covers` says what the report is about: the program and its build, captures and their buckets"
    )
    def test_gate_prints_each_fix_once_for_the_first_ten(self):
        lines = self.output("gate", self.with_faults(30), code=1).splitlines()
        self.assertEqual(sum(line.startswith("    fix: ") for line in lines), 1)
        self.assertEqual(sum(line.startswith("  error ") for line in lines), 10)
        self.assertIn("  … and 20 more", lines)
        self.assertTrue(any(line.startswith("  covers  decode (build 3f2a91c04b77") for line in lines), lines)

    @promise(
        PAGE,
        "A failing `gate` names in its first line what would happen and where. Below it are the first ten causes, each with its place, one sentence on what happened and,",
    )
    def test_a_failing_gate_shows_the_line(self):
        lines = self.output("gate", TRACES / "python/item_in_helper.faulty.json", code=1).splitlines()
        self.assertTrue(lines[0].startswith("gate: fail - CAPTURE DIES at tests/corpus/python/item_in_helper.py:12 temperature()"), lines)
        self.assertTrue(lines[1].startswith("  error host-sync tests/corpus/python/item_in_helper.py:12 temperature()"), lines)
        self.assertIn("the host waits for a copy of 4 bytes from the device", lines[2])
        self.assertTrue(lines[3].startswith("    > 12 |     return scale if CLEAN else scale.item()"), lines)
        self.assertTrue(any(line.startswith("  more: capgate show ") for line in lines), lines)

    @promise(PAGE, "`not counted` names what is in the report and fails nothing: known errors, warnings, allowed faults.")
    def test_a_pass_names_what_it_does_not_count(self):
        failed = GOLDEN / "failed_run.json"
        self.assertIn(f"\n  not counted: 2 errors, known in {failed}; 1 allowed fault\n", self.output("gate", failed, "--baseline", failed))

    @promise(PAGE, "They begin with the first new cause, count what is new, known and fixed, and give the verdict")
    def test_every_view_gives_the_verdict_of_what_is_new(self):
        failed = GOLDEN / "failed_run.json"
        for words in (["show", failed], ["export", failed, "--format", "markdown"]):
            out = self.output(*words, "--baseline", failed)
            self.assertIn("PASS", out.splitlines()[0])
            self.assertIn("nothing new; 2 errors known; nothing fixed", out)

    @promise(PAGE, "A date that is over is refused.")
    def test_an_end_in_the_past_is_refused(self):
        self.output("gate", GOLDEN / "failed_run.json", "--baseline", "k.txt", "--update-baseline", "--until", "2001-02-03", code=2)

    @promise(PAGE, "A pass says what it does not prove.")
    def test_a_pass_says_what_it_does_not_prove(self):
        self.assertIn("not proved: ", self.output("gate", GOLDEN / "clean_run.json"))

    @promise(PAGE, "the verdict, the first finding with its source and fix, a table of up to 20 |")
    def test_markdown_lists_twenty(self):
        rows = [
            line for line in self.output("export", "--format", "markdown", self.with_faults(30)).splitlines() if line.startswith("| error")
        ]
        self.assertEqual(len(rows), 20)

    @promise(PAGE, "It judges nothing: let `gate` decide", "`merge`, `show`, `view`, `export`, `explain` and `rules` judge nothing")
    def test_what_judges_nothing_ends_with_0_for_a_fail(self):
        failed = GOLDEN / "failed_run.json"
        for words in (
            ["merge", failed],
            ["show", failed],
            ["view", failed, "--out", "-"],
            *(["export", failed, "--format", name] for name in ("sarif", "junit", "gitlab", "github", "markdown", "gcc")),
        ):
            with self.subTest(words=words[:1] + words[-1:]):
                self.output(*words)

    @promise(PAGE, "keep the report, and with `--trace DIR` the trace: `capgate show` and `capgate analyze` need nothing else |")
    def test_a_report_and_a_trace_need_nothing_else(self):
        bare = {name: "" for name in os.environ if name not in ("PATH", "LD_LIBRARY_PATH")}
        recorded = TRACES / "python/item_in_helper.faulty"
        for kind in ("json", "cgtrace"):
            shutil.copy(f"{recorded}.{kind}", self.here / f"a.{kind}")
        again = self.output("analyze", "a.cgtrace", code=1, env=bare)
        self.assertEqual(again, (self.here / "a.json").read_text(encoding="utf-8"))
        self.assertIn("  > 12 |     return scale if CLEAN else scale.item()", self.output("show", "a.json", env=bare))

    @needs_lint
    @promise(PAGE, "| a second run parses again | keep the folder of `--cache-dir DIR` between runs |")
    @promise("capgate lint --help", "Where results are kept; default: XDG cache, capgate/lint", "Neither read nor keep results")
    def test_a_kept_cache_saves_the_second_parse(self):
        source = self.write("a.cu", CAPTURE)

        def parsed_anew(*words):
            done = self.run_capgate("lint", "-v", *words, source, "--")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            return "1 units, 0 from the cache" in done.stdout + done.stderr

        self.assertTrue(parsed_anew("--no-cache"))
        self.assertFalse((self.here / ".cache").exists())
        self.assertTrue(parsed_anew("--cache-dir", "kept"))
        self.assertFalse(parsed_anew("--cache-dir", "kept"))
        self.assertTrue(parsed_anew("--no-cache", "--cache-dir", "kept"))
        self.assertTrue(parsed_anew())
        self.assertTrue((self.here / ".cache/capgate/lint").is_dir())
        self.assertFalse(parsed_anew())


if __name__ == "__main__":
    unittest.main()
