"""Where the report, the trace and the messages of `capgate audit` go."""

import json
import os
import pathlib
import resource
import subprocess
import sys
import unittest

from audit_case import CAPGATE, PATIENCE, Audit


class WhereThingsGo(Audit):
    def test_the_report_goes_to_standard_output_on_request(self):
        done = self.audit("--out", "-", "--", "true")
        self.assertEqual(json.loads(done.stdout)["verdict"], "inconclusive")
        self.assertFalse((self.work / "capgate-report.json").exists())

    def test_a_link_a_pipe_and_a_device_take_the_report(self):
        (self.work / "latest.json").symlink_to("real.json")
        (self.work / "real.json").write_text('{"schema": "capgate-report/1"}')
        self.assertEqual(self.audit("--out", "latest.json", "--", "true").returncode, 2)
        self.assertTrue((self.work / "latest.json").is_symlink())
        self.assertEqual(json.loads((self.work / "real.json").read_text())["verdict"], "inconclusive")
        done = self.audit("--out", "/dev/stdout", "--", "true")
        self.assertEqual(json.loads(done.stdout)["verdict"], "inconclusive", done.stderr)

    def test_what_is_no_report_is_not_overwritten_and_the_program_does_not_run(self):
        (self.work / "model.py").write_text("print()\n")
        self.assertIn("is not a capgate report", self.refused(self.audit("--out", "model.py", "--", "touch", "ran")))
        self.assertEqual((self.work / "model.py").read_text(), "print()\n")
        self.assertFalse((self.work / "ran").exists())

    def test_a_full_disk_loses_nothing(self):
        done = self.audit("--out", "/dev/full", "--", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("No space left", done.stderr)
        kept = pathlib.Path(done.stderr.split("the trace is kept in ")[1].splitlines()[0])
        elsewhere = pathlib.Path(done.stderr.split("the report is in ")[1].split("; ")[0])
        self.addCleanup(elsewhere.unlink)
        self.assertEqual(json.loads(elsewhere.read_text())["verdict"], "inconclusive")
        self.assertTrue((kept / "trace.cgtrace").exists())

    @unittest.skipIf("thread" in os.environ.get("CAPGATE_SANITIZE", ""), "ThreadSanitizer writes a file of its own")
    def test_a_limit_on_the_size_of_files_is_told(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

        done = subprocess.run(
            [CAPGATE, "audit", "--", "sh", "-c", "exit 0"],
            cwd=self.work,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            preexec_fn=limit,
        )
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("File too large", done.stderr)

    def test_a_reader_that_went_away_loses_nothing(self):
        process = self.start("--out", "-", *self.python("import time; print('ready', flush=True); time.sleep(0.5)"))
        self.ready(process)
        process.stdout.close()
        err = process.stderr.read().decode()
        process.stderr.close()
        self.assertEqual(process.wait(PATIENCE), 2, err)
        self.assertIn("Broken pipe", err)
        kept = pathlib.Path(err.split("the trace is kept in ")[1].splitlines()[0])
        self.assertTrue((kept / "trace.cgtrace").exists())

    def test_closed_standard_streams_cost_neither_report_nor_peace(self):
        source = "import os\nfor n in range(3):\n  try: os.fstat(n); os._exit(9)\n  except OSError: pass"
        script = '"$0" audit -- "$1" -c "$2" <&- >&- 2>&-'
        code = subprocess.run(
            ["sh", "-c", script, CAPGATE, sys.executable, source], cwd=self.work, env=self.environment, timeout=PATIENCE
        ).returncode
        self.assertEqual(code, 2)
        self.assertEqual(self.report()["run"]["exit_code"], 0, "the program finds them closed as well")

    def test_two_audits_do_not_share_a_trace_folder(self):
        first = self.start(
            "--trace",
            "t",
            "--out",
            "first.json",
            *self.python(
                """
            import sys
            print("ready", flush=True)
            sys.stdin.read()
        """
            ),
            stdin=subprocess.PIPE,
        )
        self.ready(first)
        self.assertIn("another audit", self.refused(self.audit("--trace", "t", "--", "true")))
        self.finish(first)
        self.assertTrue((self.work / "t/trace.cgtrace").exists())
        self.assertEqual(self.audit("--trace", "t", "--", "true").returncode, 2)

    def test_audits_at_once_to_one_file_leave_a_whole_report(self):
        running = [self.start("--", "true") for _ in range(6)]
        for process in running:
            self.finish(process)
        self.assertEqual(self.report()["verdict"], "inconclusive")
        self.assertEqual([path.name for path in self.work.iterdir()], ["capgate-report.json"])

    def test_names_do_not_steer_the_terminal(self):
        evil = "a\033[2J\r\u202eb\x9b"
        program = self.work / evil
        program.write_text("#!/bin/sh\nexit 3\n")
        program.chmod(0o755)
        for words in (
            ["--", f"./{evil}"],
            ["--out", f"no{evil}/r.json", "--", "true"],
            ["--", f"./no{evil}"],
            ["--until", evil, "--", "true"],
            [f"--no{evil}"],
            ["--out", f"{evil}.json", "--", "true"],
        ):
            done = self.audit(*words)
            self.assertIn(done.returncode, (2, 3))
            for steers in ("\033", "\r", "\u202e", "\x9b"):
                self.assertNotIn(steers, done.stderr, words)

    def test_nothing_is_left_behind(self):
        self.audit("--", "true")
        self.assertEqual(list(self.temporary.iterdir()), [])
        self.assertEqual([path.name for path in self.work.iterdir()], ["capgate-report.json"])

    def test_a_kept_trace_gives_the_same_report(self):
        done = self.audit("--trace", "t", "--", "sh", "-c", "exit 4")
        self.assertTrue((self.work / "t/trace.cgtrace").exists(), done.stderr)
        again = subprocess.run([CAPGATE, "analyze", "t/trace.cgtrace", "--out", "again.json"], cwd=self.work, capture_output=True)
        self.assertEqual(again.returncode, 2, again.stderr)
        self.assertEqual((self.work / "again.json").read_bytes(), (self.work / "capgate-report.json").read_bytes())

    def test_a_report_does_not_take_the_place_of_what_it_is_about(self):
        self.audit("--trace", "t", "--out", "first.json", "--", "true")
        script = self.work / "step.sh"
        script.write_text("#!/bin/sh\nexit 0\n")
        script.chmod(0o755)
        link = self.work / "link.json"
        link.symlink_to(script)
        trace = self.work / "t/trace.cgtrace"
        before = trace.read_bytes()
        for out in ("step.sh", "link.json"):
            self.assertIn("would be lost", self.refused(self.audit("--out", out, "--", "./step.sh")))
        self.assertEqual(script.read_text(), "#!/bin/sh\nexit 0\n")
        done = subprocess.run([CAPGATE, "analyze", str(trace), "--out", "t/trace.cgtrace"], cwd=self.work, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--out t/trace.cgtrace: is ", done.stderr)
        self.assertIn("would be lost", done.stderr)
        self.assertEqual(trace.read_bytes(), before)

    def test_colour_only_on_request_when_it_is_no_terminal(self):
        self.assertNotIn("\033", self.audit("--", "true").stderr)
        self.assertNotIn("\033", self.audit("--color=never", "--", "true").stderr)
        self.assertIn("\033", self.audit("--color=always", "--", "true").stderr)


if __name__ == "__main__":
    unittest.main()
