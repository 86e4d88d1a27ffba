#!/usr/bin/env python3
"""The commands that read reports, from outside: exit codes, and where text goes."""

import json
import subprocess
import unittest

from commands import CAPGATE, GOLDEN, Commands, run


class ReadReports(Commands):
    def test_gate_answers_with_the_exit_code(self):
        self.assertEqual(run("gate", GOLDEN / "clean_run.json")[0], 0)
        self.assertEqual(run("gate", GOLDEN / "failed_run.json")[0], 1)
        self.assertEqual(run("gate", GOLDEN / "failed_run.json", "--baseline", GOLDEN / "failed_run.json")[0], 0)
        self.assertEqual(run("gate", GOLDEN / "failed_run.json", "--baseline", GOLDEN / "clean_run.json")[0], 1)
        report = json.loads((GOLDEN / "clean_run.json").read_text(encoding="utf-8"))
        report["verdict"] = "inconclusive"
        report["reasons"] = [{"text": "why", "remedy": "how"}]
        code, out, _ = run("gate", "-", stdin=json.dumps(report))
        self.assertEqual(code, 2)
        self.assertIn("to do: how", out)

    def test_gate_opens_on_eager_evidence_only_when_asked(self):
        report = GOLDEN / "old/eager_region.healthy.json"
        code, out, _ = run("gate", report)
        self.assertEqual(code, 2)
        self.assertIn(f"capgate gate --allow-eager {report}", out)
        code, out, _ = run("gate", report, "--allow-eager")
        self.assertEqual(code, 0)
        self.assertIn("gate: pass (eager step only)", out)

    def test_gate_may_require_that_replays_were_verified(self):
        code, out, _ = run("gate", GOLDEN / "clean_run.json", "--require", "replay")
        self.assertEqual(code, 2)
        self.assertIn("gate: inconclusive - no replay was compared with an eager step\n  to do: call verify_replay", out)
        report = json.loads((GOLDEN / "clean_run.json").read_text(encoding="utf-8"))
        replay = report["coverage"]["replay"]
        replay["verified"] = [
            {
                "name": "decode", "executable": "4711:e1", "buckets": ["bs=1"], "input_sets": 2, "steps": 3, "refilled_bytes": 64,
                "noise": 0, "outputs": ["logits"], "result": "equal",
            }
        ]  # fmt: skip
        replay["not_verified"] = [{"executable": "4711:e2", "buckets": ["bs=8"], "launches": 80, "why": "no verification launched it"}]
        path = self.here / "half.json"
        path.write_text(json.dumps(report), encoding="utf-8")
        code, out, _ = run("gate", path, "--require", "replay")
        self.assertEqual(code, 2)
        self.assertIn("4711:e2 was launched 80 times and is not verified: no verification launched it", out)
        code, out, _ = run("gate", path, "--require", "replay", "--bucket", "bs=1")
        self.assertEqual(code, 0, out)
        self.assertIn("Verified: 1 graph gave the eager results for 2 input sets over 3 steps", out)
        self.assertEqual(run("gate", path, "--require", "replay", "--bucket", "bs=1", "--bucket", "bs=8")[0], 2)
        self.assertEqual(run("gate", path)[0], 0)

    def test_what_gate_cannot_require_is_one_sentence(self):
        for words, part in (
            (["--require", "speed"], '"speed" cannot be required; require replay or replay=compared'),
            (["--bucket", "bs=1"], "--require"),
        ):
            code, out, err = run("gate", GOLDEN / "clean_run.json", *words)
            self.assertEqual((code, out), (2, ""), words)
            self.assertIn(part, err)

    def test_gate_tells_what_the_report_covers(self):
        code, out, _ = run("gate", GOLDEN / "merged_clean.json")
        self.assertEqual(code, 0)
        for part in ("decode (build 3f2a91c04b77", "2 graphs captured, 160 launches; buckets bs=1, bs=8",
                     "31 files parsed, 1 region: capture at model/decode.cpp:110"):  # fmt: skip
            self.assertIn(part, out)

    def test_merge_refuses_a_lint_of_another_program(self):
        lint = json.loads((GOLDEN / "clean_sources.json").read_text(encoding="utf-8"))
        lint["coverage"]["sources_read"] = ["tools/convert.cpp"]
        path, target = self.here / "lint.json", self.here / "m.json"
        path.write_text(json.dumps(lint), encoding="utf-8")
        self.expect_sentence(
            run("merge", GOLDEN / "clean_run.json", path, "--out", target), "lint read 1 source, such as tools/convert.cpp"
        )
        self.assertFalse(target.exists())

    def test_gate_fails_on_warnings_only_when_asked(self):
        report = json.loads((GOLDEN / "failed_run.json").read_text(encoding="utf-8"))
        for fault in report["violations"]:
            fault["severity"] = "warning"
        report["verdict"] = "pass"
        report["summary"] |= {
            "errors": 0,
            "warnings": report["summary"]["errors"] + report["summary"]["warnings"] + report["summary"]["notes"],
            "notes": 0,
        }
        path = self.here / "warned.json"
        path.write_text(json.dumps(report), encoding="utf-8")
        before = path.read_bytes()
        self.assertEqual(run("gate", path)[0], 0)
        self.assertEqual(run("gate", path, "--fail-on", "warning")[0], 1)
        self.assertEqual(path.read_bytes(), before)

    def test_merge_writes_data_to_stdout_and_words_to_stderr(self):
        code, out, err = run("merge", GOLDEN / "clean_run.json", GOLDEN / "clean_sources.json")
        self.assertEqual(code, 0)
        self.assertEqual(json.loads(out)["verdict"], "pass")
        self.assertTrue(err.startswith("PASS"), err)
        target = self.here / "m.json"
        code, out, _ = run("merge", GOLDEN / "clean_run.json", GOLDEN / "failed_run.json", "--out", target)
        self.assertEqual((code, out), (0, ""))  # done; the verdict is the gate's to tell
        self.assertEqual(run("gate", target)[0], 1)

    def test_merge_costs_none_of_its_inputs(self):
        run_report, lint = self.here / "run.json", self.here / "lint.json"
        run_report.write_bytes((GOLDEN / "clean_run.json").read_bytes())
        lint.write_bytes((GOLDEN / "clean_sources.json").read_bytes())
        (self.here / "link.json").symlink_to("run.json")
        for out in (run_report, lint, self.here / "link.json"):
            with self.subTest(out=out):
                self.expect_sentence(run("merge", run_report, lint, "--out", out), f"--out {out}: is ")
                self.expect_sentence(run("merge", run_report, lint, "--out", out), "would be lost")
        with open(lint, "ab") as appended:  # capgate merge a b >> b
            done = subprocess.run([CAPGATE, "merge", run_report, lint], stdout=appended, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("standard output: is ", done.stderr)
        self.assertEqual(run_report.read_bytes(), (GOLDEN / "clean_run.json").read_bytes())
        self.assertEqual(lint.read_bytes(), (GOLDEN / "clean_sources.json").read_bytes())
        # Where nothing would change, nothing is lost.
        merged = self.here / "merged.json"
        self.assertEqual(run("merge", run_report, lint, "--out", merged)[0], 0)
        before = merged.read_bytes()
        self.assertEqual(run("merge", merged, "--out", merged)[0], 0)
        self.assertEqual(merged.read_bytes(), before)

    def test_merge_refuses_two_builds(self):
        report = json.loads((GOLDEN / "clean_run.json").read_text(encoding="utf-8"))
        report["subject"]["build_id"] = "beef"
        path = self.here / "other.json"
        path.write_text(json.dumps(report), encoding="utf-8")
        target = self.here / "m.json"
        self.expect_sentence(run("merge", GOLDEN / "clean_run.json", path, "--out", target), "cannot merge")
        self.assertFalse(target.exists())

    def test_show_prints_the_golden_view_without_colour(self):
        done = subprocess.run([CAPGATE, "show", "failed_run.json"], cwd=GOLDEN, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.replace(" failed_run.json", " REPORT"), (GOLDEN / "failed_run.txt").read_text(encoding="utf-8"))
        self.assertIn("\x1b[", run("--color", "always", "show", GOLDEN / "failed_run.json")[1])

    def test_explain_and_rules(self):
        code, out, _ = run("rules", "--json")
        self.assertEqual(code, 0)
        rules = json.loads(out)["rules"]
        listed = run("rules")[1]
        for rule in rules:
            self.assertIn(rule["id"], listed)
            self.assertEqual(run("explain", rule["id"])[0], 0)
            planned = "Planned: nothing raises this rule yet." in run("explain", rule["id"])[1]
            self.assertEqual(planned, rule.get("status") == "planned", rule["id"])

    def test_explain_takes_a_situation_and_a_call(self):
        for situation in json.loads(run("rules", "--json")[1])["situations"]:
            code, out, err = run("explain", situation["id"])
            self.assertEqual((code, err), (0, ""))
            self.assertIn(situation["title"], out)
        code, out, _ = run("explain", "cuMemAlloc_v2")
        self.assertEqual(code, 0)
        self.assertIn("instead: the allocation before the capture", out)
        self.assertIn("rules:   device-alloc; on another thread", out)

    def test_explain_of_what_there_is_not_says_what_is_near(self):
        for word, said in {
            "host-sync.torch-itm": 'host-sync has no situation "host-sync.torch-itm"; did you mean host-sync.torch-item',
            "host-sync.xyzzyxyzzyxyzzyxyzzy": "`capgate explain host-sync` lists those that it has",
            "cudaMaloc": '"cudaMaloc" is not among the calls that captures refuse or leave out; did you mean cudaMalloc',
            "cudnnXyzzyXyzzyXyzzy": "docs/rules/calls.md lists them",
            "hots-sync": 'unknown rule "hots-sync"; did you mean host-sync?',
        }.items():
            with self.subTest(word=word):
                self.expect_sentence(run("explain", word), said)


if __name__ == "__main__":
    unittest.main()
