"""What the README promises, where the tests of the commands do not show it."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from promise import CAPGATE, GOLDEN, SOURCE, TRACES, Promises, promise

PAGE = "README.md"


class Readme(Promises):
    @promise(
        PAGE,
        "The first line of a pass says what was proved (`capture only`, `capture and replays` where every graph that was launched is verified, `built graph only`, `eager step only`, `source only`), the second what was not.",
    )
    @promise(PAGE, "The first line of a fail says which kind it is: `CAPTURE DIES` at a line, or `GRAPH IS WRONG`")
    @promise(PAGE, "For an eager step and for sources it is `A CAPTURE WOULD DIE`, `A REPLAY WOULD BE WRONG` or `A REPLAY COULD BE WRONG`.")
    @promise(PAGE, "the run proved nothing; the report's second line says what to do about it")
    def test_the_first_two_lines_of_every_recorded_report(self):
        kinds = {
            "pass": r"PASS \((capture only|capture and replays|built graph only|eager step only|source only)\): ",
            "fail": r"FAIL: (CAPTURE DIES at |GRAPH IS WRONG: (?:it captures, but |it launches, but |CUDA refused its |its update was refused, )|A CAPTURE WOULD DIE at |A REPLAY WOULD BE WRONG: |A REPLAY COULD BE WRONG: )",
            "inconclusive": r"INCONCLUSIVE: ",
        }
        seconds = {"pass": r"  not proved: \S", "inconclusive": r"  to do:\s+\S", "fail": "^"}
        seen = set()
        for report in [*sorted(TRACES.glob("*/*.json")), GOLDEN / "clean_sources.json"]:
            with self.subTest(report=report.name):
                verdict = json.loads(report.read_text(encoding="utf-8"))["verdict"]
                first, second, *_ = self.output("show", report).splitlines()
                self.assertRegex(first, kinds[verdict])
                self.assertRegex(second, seconds[verdict])
                seen.add(re.match(kinds[verdict], first)[0])
        self.assertEqual(len(seen), 13, seen)

    @promise(PAGE, "the rules that are `planned` there are not checked yet.")
    def test_rules_that_are_not_checked_are_planned_on_the_page(self):
        text = (SOURCE / "docs/rules/README.md").read_text(encoding="utf-8")
        on_page = {rule for rule, rest in re.findall(r"^\| \[([\w-]+)\](.*)$", text, re.MULTILINE) if rest.rstrip("| ").endswith("planned")}
        rules = json.loads(self.output("rules", "--json"))["rules"]
        self.assertEqual(on_page, {rule["id"] for rule in rules if rule.get("status") == "planned"})
        for report in TRACES.glob("*/*.json"):
            raised = {fault["rule"] for fault in json.loads(report.read_text(encoding="utf-8"))["violations"]}
            self.assertEqual(raised & on_page, set(), report)

    @promise(PAGE, "`scripts/demo` audits an example, or judges the recorded trace of it where there is no GPU.")
    def test_the_demo_without_a_gpu(self):
        trace = "tests/traces/cpp/all_at_once.faulty.cgtrace"
        for path in ("scripts/demo", "scripts/common.sh", trace):
            (self.here / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCE / path, self.here / path)
        (self.here / "bin").mkdir()
        (self.here / "bin/capgate").symlink_to(CAPGATE)
        none = self.write("none/nvidia-smi", "#!/bin/sh\nexit 1\n")
        none.chmod(0o755)
        done = subprocess.run(
            [self.here / "scripts/demo"], capture_output=True, text=True, timeout=200,
            env=os.environ | {"PATH": f"{none.parent}:{os.environ['PATH']}", "TMPDIR": str(self.here)},
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("FAIL: ", done.stdout)
        (page,) = re.findall(r"open in a browser: (\S+)", done.stdout)
        self.assertIn("all_at_once", pathlib.Path(page).read_text(encoding="utf-8"))

    @promise(PAGE, "`cmake --build --preset release --target capgate capgate_preload` builds the tools alone.")
    def test_targets_that_pages_build_exist(self):
        made = "".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("CMakeLists.txt") if "build" not in path.parts)
        for page in ("README.md", "CONTRIBUTING.md", "examples/README.md", "docs/debugging.md"):
            text = (SOURCE / page).read_text(encoding="utf-8")
            for names in re.findall(r"cmake --build [^\n`#]*--target ([\w -]+)", text):
                for name in names.split(" --")[0].split():
                    self.assertRegex(made, rf"add_(executable|library)\({re.escape(name)}\b", f"{page} builds {name}")

    @promise(
        PAGE, "no error, and at least one capture completed, a graph built node by node was launched, or a marked region was seen twice;"
    )
    def test_what_a_recorded_pass_rests_on(self):
        passed = 0
        for path in TRACES.glob("*/*.json"):
            report = json.loads(path.read_text(encoding="utf-8"))
            if report["verdict"] == "pass":
                passed += 1
                coverage = report["coverage"]
                twice = any(region["occurrences"] >= 2 for region in coverage["regions"])
                built = any(graph["mode"] == "built" and graph["replays"] for graph in report["captures"])
                self.assertTrue(coverage["captures_completed"] or built or twice, path)
                self.assertEqual(report["summary"]["errors"], 0)
        self.assertGreater(passed, 50)

    @promise(PAGE, "The summary goes to stderr, the report to `capgate-report.json`.")
    def test_where_an_audit_writes(self):
        done = self.run_capgate("audit", "--", sys.executable, "-c", "print('mine')")
        self.assertEqual((done.returncode, done.stdout), (2, "mine\n"))
        self.assertTrue(done.stderr.startswith("INCONCLUSIVE: "), done.stderr)
        self.assertEqual([path.name for path in self.here.iterdir()], ["capgate-report.json"])


if __name__ == "__main__":
    unittest.main()
