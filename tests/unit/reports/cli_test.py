#!/usr/bin/env python3
"""The commands that read reports, from outside: exit codes, where text goes, one sentence for whatever is wrong."""

import argparse
import json
import os
import pathlib
import socket
import subprocess
import tempfile
import unittest

CAPGATE, GOLDEN = "", pathlib.Path()


def run(*words, stdin=None):
    done = subprocess.run([CAPGATE, *map(str, words)], input=stdin, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


class Commands(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.here = pathlib.Path(self.folder.name)

    def expect_sentence(self, result, part):
        code, out, err = result
        self.assertEqual(code, 2)
        self.assertEqual(out, "")
        self.assertTrue(err.startswith("capgate: "), err)
        self.assertIn(part, err)

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
            (["--require", "replay=compared"], "replay=compared is not there yet"),
            (["--require", "speed"], '"speed" cannot be required; require replay'),
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

    def test_a_report_that_contradicts_itself_is_nobodys_verdict(self):
        good = json.loads((GOLDEN / "failed_run.json").read_text(encoding="utf-8"))
        path = self.here / "edited.json"
        for what, change in {
            "its summary counts": {"violations": []},
            "its verdict is pass, and its contents make it fail": {"verdict": "pass"},
            "two of its violations have the id": {"violations": good["violations"] + good["violations"][:1]},
            "its summary counts 7 of device-alloc, and there are": {
                "summary": good["summary"] | {"by_rule": good["summary"]["by_rule"] | {"device-alloc": 7}}
            },
            f'violation "{good["violations"][0]["id"]}" costs something per step, of 0 steps': {
                "violations": [good["violations"][0] | {"per_step": {"steps": 0, "count": 1.0}}] + good["violations"][1:]
            },
        }.items():
            path.write_text(json.dumps(good | change), encoding="utf-8")
            for command in (["gate", path], ["show", path], ["merge", path], ["gate", GOLDEN / "failed_run.json", "--baseline", path]):
                with self.subTest(what=what, command=command[0]):
                    code, out, err = run(*command)
                    self.assertEqual((code, out), (2, ""))
                    self.assertIn("contradicts itself: " + what, err)
                    self.assertEqual(len(err.splitlines()), 1, err)

    def test_bad_input_is_one_sentence_and_2(self):
        nothing = self.here / "nothing.json"
        for command in (
            ["gate", nothing],
            ["show", nothing],
            ["merge", nothing],
            ["gate", GOLDEN / "clean_run.json", "--baseline", nothing],
        ):
            self.expect_sentence(run(*command), "nothing.json: cannot be read")
        for command in ("gate", "show", "merge"):  # opens, and cannot be read
            self.expect_sentence(run(command, "/proc/self/mem"), "/proc/self/mem: cannot be read: ")
        self.expect_sentence(run("show", "-", stdin="{"), "standard input: ends at byte 1")
        self.expect_sentence(run("explain", "host-snyc"), "did you mean host-sync?")
        self.expect_sentence(run("gate"), "REPORT")
        self.expect_sentence(run("gate", GOLDEN / "clean_run.json", "--fail-on", "note"), "--fail-on")

    def test_hostile_files_are_one_sentence_and_2(self):
        whole = (GOLDEN / "failed_run.json").read_bytes()
        (self.here / "folder").mkdir()
        (self.here / "loop").symlink_to("loop")
        hostile = {
            "empty": b"", "zeros": bytes(4096), "noise": bytes(range(256)) * 40, "cut": whole[: len(whole) // 2],
            "deep": b"[" * 200000, "deeper": b'{"schema":' * 200000, "latin": whole.replace(b"moe", b"m\xffe", 1),
            "nan": whole.replace(b'"wall_s":', b'"wall_s": NaN, "x":', 1), "list": b"[]", "number": b"9" * 100000,
            "newer": b'{"schema": "capgate-report/2\\u001b[2J\\u202e"}',
            "fatal": whole.replace(b'"severity": "error"', b'"severity": "\\u001b[31mfatal\\n"', 1),
            "negative": whole.replace(b'"count": ', b'"count": -', 1),
        }  # fmt: skip
        for name, content in hostile.items():
            (self.here / name).write_bytes(content)
        for name in [*hostile, "folder", "loop", "m\033[2Jissing", "folder/below/it"]:
            path = self.here / name
            for command in (
                ["show", path],
                ["gate", path],
                ["merge", GOLDEN / "clean_run.json", path],
                ["gate", GOLDEN / "clean_run.json", "--baseline", path],
                ["analyze", path],
            ):
                with self.subTest(command=command):
                    code, out, err = run(*command)
                    self.assertEqual((code, out, err.count("\n")), (2, "", 1), err)
                    self.assertTrue(err[:-1].isprintable(), ascii(err))

    def test_output_that_cannot_be_written_is_no_success(self):
        for command in (
            ["show", GOLDEN / "clean_run.json"],
            ["gate", GOLDEN / "clean_run.json"],
            ["rules"],
            ["explain", "host-sync"],
            ["merge", GOLDEN / "clean_run.json", GOLDEN / "clean_run.json"],
        ):
            with self.subTest(command=command), open("/dev/full", "wb") as full:
                done = subprocess.run([CAPGATE, *map(str, command)], stdout=full, stderr=subprocess.PIPE, text=True)
                self.assertEqual(done.returncode, 2)
                self.assertIn("standard output: cannot be written", done.stderr)
        with open("/dev/full", "wb") as full:  # a verdict stays what it is
            self.assertEqual(
                subprocess.run([CAPGATE, "gate", str(GOLDEN / "failed_run.json")], stdout=full, stderr=subprocess.DEVNULL).returncode, 1
            )

    def test_an_endless_file_is_not_read_to_the_end(self):
        with open("/dev/zero", "rb") as zero:
            done = subprocess.run([CAPGATE, "show", "-"], stdin=zero, capture_output=True, text=True, timeout=120)
        self.expect_sentence((done.returncode, done.stdout, done.stderr), "standard input: is larger than 1024 MiB")

    def test_only_files_are_read_as_reports(self):
        fifo = self.here / "fifo"
        os.mkfifo(fifo)
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind(str(self.here / "socket"))
        for path, kind in ((fifo, "named pipe"), (self.here, "directory"), ("/dev/zero", "device"), (self.here / "socket", "socket")):
            for command in (
                ["show", path],
                ["gate", path],
                ["merge", GOLDEN / "clean_run.json", path],
                ["gate", GOLDEN / "clean_run.json", "--baseline", path],
            ):
                with self.subTest(command=command):
                    self.expect_sentence(run(*command), f"{path}: is a {kind}, not a file")
        self.assertEqual(run("analyze", fifo)[0], 2)
        done = subprocess.run(["bash", "-c", '"$0" gate <(cat "$1")', CAPGATE, GOLDEN / "clean_run.json"],
                              capture_output=True, text=True, timeout=60)  # fmt: skip
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def peak_bytes(self, *words):
        """The most memory that the command had at once."""
        with open(self.here / "out", "wb") as out:
            process = subprocess.Popen([CAPGATE, *map(str, words)], stdout=out)
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        return usage.ru_maxrss * 1024

    def test_a_large_report_is_never_in_memory_as_json(self):
        if b"__asan_init" in pathlib.Path(CAPGATE).read_bytes() or b"__tsan_init" in pathlib.Path(CAPGATE).read_bytes():
            self.skipTest("a sanitizer keeps what is freed")
        report = json.loads((GOLDEN / "failed_run.json").read_text(encoding="utf-8"))
        fault = max(report["violations"], key=lambda fault: len(json.dumps(fault)))
        small, large = self.here / "small.json", self.here / "large.json"
        small.write_text(json.dumps(report), encoding="utf-8")
        size = len(json.dumps(fault, indent=1))
        report["violations"] = [dict(fault, id=f"{i:016x}", suppressed=None) for i in range((24 << 20) // size)]
        report["summary"] = {
            "errors": 0,
            "warnings": 0,
            "notes": 0,
            "suppressed": 0,
            "by_rule": {fault["rule"]: len(report["violations"])},
            fault["severity"] + "s": len(report["violations"]),
        }
        large.write_text(json.dumps(report, indent=1), encoding="utf-8")
        added = self.peak_bytes("show", large) - self.peak_bytes("show", small)
        # The report once, whose texts are what the file mostly is; the text beside it takes as much again, JSON five times.
        self.assertLess(added, 2 * large.stat().st_size)

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

    def test_a_trace_is_no_report_and_that_is_said(self):
        trace = self.here / "run.cgtrace"
        trace.write_bytes(b"CGSEALED" + bytes(100))
        for command in ("show", "gate", "merge"):
            self.expect_sentence(run(command, trace), f"is the trace of a run, not a report; make a report of it: capgate analyze {trace}")

    def test_huge_names_are_cut(self):
        report = json.loads((GOLDEN / "failed_run.json").read_text(encoding="utf-8"))
        report["subject"]["program"] = "p" * 100_000
        report["reasons"] = [{"text": "r" * 100_000, "remedy": "d" * 100_000}]
        for fault in report["violations"]:
            fault["location"] = {"file": "a" * 100_000, "line": 3, "function": "f" * 100_000}
            fault["message"] = fault["hint"] = "m" * 100_000
            fault["thread"] = fault["stream"] = "t" * 100_000
        path = self.here / "huge.json"
        path.write_text(json.dumps(report), encoding="utf-8")
        for command in (["show", path], ["show", "--all", path], ["gate", path]):
            out = run(*command)[1]
            self.assertIn("FAIL" if command[0] == "show" else "gate: fail", out)
            for name in "pafmtrd":
                self.assertNotIn(name * 1001, out)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--capgate", required=True)
    parser.add_argument("--golden", type=pathlib.Path, required=True)
    options, rest = parser.parse_known_args()
    CAPGATE, GOLDEN = options.capgate, options.golden
    unittest.main(argv=["cli_test.py", *rest])
