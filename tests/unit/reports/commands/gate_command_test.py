#!/usr/bin/env python3
"""capgate gate from outside: numbers that must not get worse, baseline files, and show's selection."""

import argparse
import json
import pathlib
import subprocess
import tempfile
import unittest

CAPGATE, GOLDEN = "", pathlib.Path()


class GateCommand(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = pathlib.Path(folder.name)
        self.failed = GOLDEN / "failed_run.json"
        self.clean = GOLDEN / "clean_run.json"

    def run_capgate(self, *words, code=0):
        done = subprocess.run([CAPGATE, *map(str, words)], capture_output=True, text=True, check=False, cwd=self.here, timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def refused(self, *words):
        done = self.run_capgate(*words, code=2)
        self.assertEqual(done.stdout, "")
        self.assertTrue(done.stderr.startswith("capgate: "), done.stderr)
        return done.stderr.splitlines()[0]

    def write(self, name, text):
        path = self.here / name
        path.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
        return path

    def metrics(self, report, code):
        path = self.here / "metrics.json"
        path.unlink(missing_ok=True)
        self.run_capgate("gate", report, "--metrics", path, code=code)
        return json.loads(path.read_text(encoding="utf-8"))

    # Numbers

    def test_metrics_are_one_flat_object_whatever_the_verdict(self):
        report = json.loads(self.failed.read_text(encoding="utf-8"))
        metrics = self.metrics(self.failed, 1)
        self.assertEqual(metrics.pop("schema"), "capgate-metrics/1")
        self.assertEqual(metrics.pop("program"), "build/decode")
        self.assertTrue(all(isinstance(value, (int, float)) for value in metrics.values()), metrics)
        for name in ("errors", "warnings", "notes", "suppressed"):
            self.assertEqual(metrics[name], report["summary"][name])
        self.assertEqual(metrics["waits_per_step"], report["metrics"]["waits_per_step"])
        self.assertEqual(self.metrics(self.clean, 0)["errors"], 0)

    def test_metrics_to_standard_output_leave_the_words_to_the_other(self):
        done = self.run_capgate("gate", self.clean, "--metrics", "-")
        self.assertEqual(json.loads(done.stdout)["errors"], 0)
        self.assertTrue(done.stderr.startswith("gate: pass"), done.stderr)

    def test_metrics_overwrite_nothing_else(self):
        source = self.write("a.cu", "int x;\n")
        copy = self.write("r.json", self.clean.read_text(encoding="utf-8"))
        self.assertIn("is not a file of metrics", self.refused("gate", self.clean, "--metrics", source))
        self.assertIn("would be lost", self.refused("gate", copy, "--metrics", copy))
        self.assertEqual(source.read_text(encoding="utf-8"), "int x;\n")
        self.run_capgate("gate", self.clean, "--metrics", "m.json")
        self.run_capgate("gate", self.clean, "--metrics", "m.json")
        self.assertIn("would be lost", self.refused("gate", self.clean, "--no-worse-than", "m.json", "--metrics", "m.json"))

    def test_a_number_that_got_worse_fails_a_pass(self):
        before = self.metrics(self.clean, 0)
        main = self.write("main.json", before | {"captures_failed": 0, "warnings": 0})
        self.assertIn("no number worse than in main.json", self.run_capgate("gate", self.clean, "--no-worse-than", "main.json").stdout)
        report = json.loads(self.clean.read_text(encoding="utf-8"))
        report["metrics"] = {"waits_per_step": 3.0}
        worse = self.write("worse.json", report)
        main = self.write("main.json", before | {"waits_per_step": 2})
        out = self.run_capgate("gate", worse, "--no-worse-than", main, code=1).stdout
        self.assertTrue(out.startswith("gate: fail - 1 number worse than in "), out)
        self.assertIn("  waits_per_step: 2 there, 3 here\n", out)
        # The same numbers from the report of the main branch.
        report["metrics"] = {"waits_per_step": 2.0}
        main = self.write("older.json", report)
        self.assertIn("2 there, 3 here", self.run_capgate("gate", worse, "--no-worse-than", main, code=1).stdout)
        self.assertIn("not in", self.run_capgate("gate", worse, "--no-worse-than", self.clean).stdout)
        self.assertIn("only in", self.run_capgate("gate", self.clean, "--no-worse-than", main, code=2).stdout)

    def test_bad_numbers_are_one_sentence_and_2(self):
        for name, text, part in (
            ("none.json", None, "none.json: cannot be read"),
            ("empty.json", "", "is neither what `capgate gate --metrics` wrote nor a report"),
            ("cut.json", '{"schema": "capgate-metrics/1", "errors": 1', "is neither"),
            ("word.json", '{"schema": "capgate-metrics/1", "errors": "1"}', 'the key "errors" is not a number'),
        ):
            if text is not None:
                self.write(name, text)
            with self.subTest(name):
                self.assertIn(part, self.refused("gate", self.clean, "--no-worse-than", name))

    # Baseline files

    def known(self):
        self.run_capgate("gate", self.failed, "--baseline", "known.txt", "--update-baseline", "--owner", "moe", "--until", "9999-12-31")
        return (self.here / "known.txt").read_text(encoding="utf-8")

    def test_an_update_makes_the_faults_known_to_every_command(self):
        text = self.known()
        faults = [line for line in text.splitlines() if not line.startswith("#")]
        self.assertEqual(faults, sorted(faults))
        self.assertTrue(faults and all(line.endswith(" owner=moe until=9999-12-31") for line in faults), text)
        out = self.run_capgate("gate", self.failed, "--baseline", "known.txt").stdout
        self.assertIn("gate: pass", out)
        self.assertIn("  not counted: 2 errors, known in known.txt; ", out)
        self.assertIn(" (known)", self.run_capgate("show", self.failed, "--baseline", "known.txt").stdout)
        sarif = json.loads(self.run_capgate("export", self.failed, "--format", "sarif", "--baseline", "known.txt").stdout)
        self.assertIn("unchanged", {result.get("baselineState") for result in sarif["runs"][0]["results"]})
        page = self.run_capgate("view", self.failed, "--baseline", "known.txt", "--out", "-").stdout
        self.assertIn("known.txt", page)
        # Written again, it is the same.
        self.run_capgate("gate", self.failed, "--baseline", "known.txt", "--update-baseline")
        self.assertEqual((self.here / "known.txt").read_text(encoding="utf-8"), text)

    def test_an_entry_that_has_ended_no_longer_holds(self):
        self.write("known.txt", self.known().replace("9999-12-31", "2001-02-03"))
        out = self.run_capgate("gate", self.failed, "--baseline", "known.txt", code=1).stdout
        self.assertIn(
            "ended in known.txt, so no longer known; to extend: "
            "capgate gate --baseline known.txt --update-baseline --add-nothing --until DATE ",
            out,
        )
        self.assertIn("(known.txt:4, until 2001-02-03, owner moe)", out)
        # An update by itself gives nobody more time; a new end does.
        self.run_capgate("gate", self.failed, "--baseline", "known.txt", "--update-baseline", code=1)
        self.assertIn("until=2001-02-03", (self.here / "known.txt").read_text(encoding="utf-8"))
        out = self.run_capgate("gate", self.failed, "--baseline", "known.txt", "--update-baseline", "--until", "9999-01-01").stdout
        self.assertIn("known.txt: 2 faults kept (2 extended), 0 added, 0 dropped\n", out)
        text = (self.here / "known.txt").read_text(encoding="utf-8")
        self.assertEqual(text.count(" owner=moe until=9999-01-01\n"), 2, text)

    def test_no_hint_of_the_gate_accepts_what_is_new(self):
        """Of two faults one has ended, one has no line, and a third line's fault is gone."""
        lines = self.known().splitlines(keepends=True)
        head, sync = [line for line in lines if line.startswith("#")], next(line for line in lines if " host-sync " in line)
        gone = sync.replace(sync.split("[")[1][:16], "0123456789abcdef").replace(" in ", " in other_")
        self.write("known.txt", "".join([*head, sync.replace("9999-12-31", "2001-02-03"), gone]))
        out = self.run_capgate("gate", self.failed, "--baseline", "known.txt", code=1).stdout
        hints = [line.split(": ", 1)[1].split() for line in out.splitlines() if "--update-baseline" in line]
        self.assertEqual(len(hints), 2, out)
        for hint in hints:
            words = ["9999-01-01" if word == "DATE" else word for word in hint]
            self.assertEqual(words.pop(0), "capgate")
            out = self.run_capgate(*words, code=1).stdout
            text = (self.here / "known.txt").read_text(encoding="utf-8")
            self.assertNotIn("pageable-copy", text)
            self.assertIn("  1 fault of the report is not in it; without --add-nothing the update accepts it\n", out)
        self.assertEqual([line for line in text.splitlines() if not line.startswith("#")], [sync.strip().replace("12-31", "01-01")])

    def test_suppressions_go_to_what_makes_the_report(self):
        said = self.refused("gate", self.failed, "--suppressions", "known.supp")
        self.assertIn("--suppressions: is for what makes the report: capgate audit, collect or lint --suppressions FILE", said)

    def test_an_end_in_the_past_is_refused(self):
        said = self.refused("gate", self.failed, "--baseline", "k.txt", "--update-baseline", "--until", "2001-02-03")
        self.assertIn("--until: 2001-02-03 is over; the last day of an entry is ", said)
        self.assertFalse((self.here / "k.txt").exists())

    def test_every_view_begins_with_what_is_new_and_gives_the_gates_verdict(self):
        """The first error is known, the second is new; then both are known."""
        known = self.known()
        lines = known.splitlines(keepends=True)
        sync = next(line for line in lines if " host-sync " in line)
        self.write("sync.txt", "".join(line for line in lines if line.startswith("#")) + sync)
        out = self.run_capgate("show", self.failed, "--baseline", "sync.txt").stdout
        self.assertTrue(out.startswith("FAIL: GRAPH IS WRONG: "), out)
        self.assertIn(" - 1 new error, 1 known error: decode (", out.splitlines()[0])
        self.assertEqual(out.splitlines()[1], "  against sync.txt: 1 error new; 1 error known; nothing fixed")
        self.assertLess(out.index("error pageable-copy"), out.index("error host-sync"))
        out = self.run_capgate("show", self.failed, "--baseline", "known.txt").stdout
        self.assertTrue(out.startswith("PASS (capture only): "), out)
        self.assertIn(", no new error, 2 known errors, ", out.splitlines()[0])
        self.assertEqual(out.splitlines()[1], "  against known.txt: nothing new; 2 errors known; nothing fixed")
        self.assertEqual(out.splitlines()[2].split(". Watched")[0], "  not proved: that each capture completes: 2 known errors are left")

    def test_what_is_gone_is_said_and_dropped_by_an_update(self):
        text = self.known()
        out = self.run_capgate("gate", self.clean, "--baseline", "known.txt").stdout
        self.assertIn("gone since known.txt; drop them: capgate gate --baseline known.txt --update-baseline", out)
        self.assertEqual((self.here / "known.txt").read_text(encoding="utf-8"), text)
        count = sum(not line.startswith("#") for line in text.splitlines())
        out = self.run_capgate("gate", self.clean, "--baseline", "known.txt", "--update-baseline").stdout
        self.assertIn(f"known.txt: 0 faults kept, 0 added, {count} dropped\n", out)
        self.assertTrue(all(line.startswith("#") for line in (self.here / "known.txt").read_text(encoding="utf-8").splitlines()))

    def test_a_bad_baseline_is_one_sentence_and_stays(self):
        self.assertIn("none.txt: cannot be read", self.refused("gate", self.clean, "--baseline", "none.txt"))
        for name, text, part in (
            ("empty.txt", "\n", "is empty"),
            ("a.cu", "int x;\n", "is something else"),
            ("bom.txt", "\ufeff# capgate-baseline/1\n", "is something else"),
        ):
            self.write(name, text)
            self.assertIn(
                f"{name}: {part}; an older report was expected, or a file that begins with",
                self.refused("gate", self.clean, "--baseline", name),
            )
        self.write("made.txt", "")
        self.run_capgate("gate", self.failed, "--baseline", "made.txt", "--update-baseline")
        self.assertIn("host-sync", (self.here / "made.txt").read_text(encoding="utf-8"))
        text = "# capgate-baseline/1\n<<<<<<< HEAD\n"
        path = self.write("merged.txt", text)
        for words in (["gate"], ["show"], ["view", "--out", "-"], ["export", "--format", "gcc"], ["gate", "--update-baseline"]):
            with self.subTest(words=words):
                self.assertIn("merged.txt:2: ", self.refused(words[0], self.clean, "--baseline", path, *words[1:]))
        self.assertEqual(path.read_text(encoding="utf-8"), text)
        report = self.write("r.json", self.clean.read_text(encoding="utf-8"))
        self.assertIn("is a report", self.refused("gate", self.clean, "--baseline", report, "--update-baseline"))
        self.assertIn("--baseline", self.refused("gate", self.clean, "--update-baseline"))
        self.assertIn("--until", self.refused("gate", self.clean, "--baseline", "k.txt", "--update-baseline", "--until", "soon"))
        self.assertIn("--update-baseline", self.refused("gate", self.clean, "--baseline", "k.txt", "--owner", "moe"))
        self.assertFalse((self.here / "k.txt").exists())

    # show

    def test_show_lists_what_was_asked_for(self):
        report = json.loads(self.failed.read_text(encoding="utf-8"))
        count = len(report["violations"])
        for words, fits in (
            (["--rule", "host-sync"], lambda v: v["rule"] == "host-sync"),
            (["--rule", "host-sync", "--rule", "pageable-copy"], lambda v: v["rule"] in ("host-sync", "pageable-copy")),
            (["--file", "model/*"], lambda v: v["location"]["file"].startswith("model/")),
            (["--severity", "warning"], lambda v: v["severity"] != "note"),
        ):
            with self.subTest(words=words):
                wanted = sum(fits(violation) for violation in report["violations"])
                self.assertIn(f"{wanted} of {count} findings selected\n", self.run_capgate("show", self.failed, *words).stdout)
        self.assertIn("did you mean host-sync?", self.refused("show", self.failed, "--rule", "host-snyc"))
        self.assertIn("is error, warning or note", self.refused("show", self.failed, "--severity", "bad"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--capgate", required=True)
    parser.add_argument("--golden", required=True, type=pathlib.Path)
    options, rest = parser.parse_known_args()
    CAPGATE, GOLDEN = options.capgate, options.golden
    unittest.main(argv=["gate_command_test.py", *rest])
