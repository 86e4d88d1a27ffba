#!/usr/bin/env python3
"""Reports that are none, or that somebody made to do harm: one sentence says what is wrong."""

import json
import os
import pathlib
import socket
import subprocess
import unittest

from commands import CAPGATE, GOLDEN, Commands, run


class HostileInput(Commands):
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
    unittest.main()
