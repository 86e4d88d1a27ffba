"""`capgate audit` as a launcher: what the program sees, what signals do, what ends how. Needs no GPU.

On a machine with a GPU the verdict of these programs is the same, since none of them uses CUDA.
"""

import json
import os
import pathlib
import pty
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import tomllib
import unittest

CAPGATE = pathlib.Path(os.environ["CAPGATE"])
LIBRARY = CAPGATE.parent.parent / "lib" / "libcapgate_preload.so"
PATIENCE = 60


class Audit(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.work = self.folder / "work"
        self.work.mkdir()
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        self.environment = dict(os.environ, TMPDIR=str(self.temporary))
        for name in ("LD_PRELOAD", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "NO_COLOR"):
            self.environment.pop(name, None)

    def start(self, *words, program=CAPGATE, environment=None, **options):
        return subprocess.Popen(
            [program, "audit", *words],
            cwd=self.work,
            env=self.environment | (environment or {}),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )

    def audit(self, *words, stdin=None, **options):
        process = self.start(*words, stdin=subprocess.PIPE, **options)
        out, err = process.communicate(stdin, timeout=PATIENCE)
        return subprocess.CompletedProcess(words, process.returncode, out, err.decode())

    def python(self, source):
        """A program of this source."""
        return ["--", sys.executable, "-c", textwrap.dedent(source)]

    def report(self):
        return json.loads((self.work / "capgate-report.json").read_text())

    def refused(self, done):
        self.assertEqual((done.returncode, done.stdout), (2, b""), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("capgate: "), done.stderr)
        self.assertFalse((self.work / "capgate-report.json").exists())
        self.assertEqual(list(self.temporary.iterdir()), [])
        return done.stderr

    def ready(self, process):
        """Waits until the program says so on its standard output."""
        self.assertEqual(process.stdout.readline(), b"ready\n")

    def finish(self, process):
        out, err = process.communicate(timeout=PATIENCE)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err.decode())


class WhatTheProgramSees(Audit):
    def test_its_input_and_output_are_untouched(self):
        data = bytes(range(256)) * 300
        done = self.audit("--", "cat", stdin=data)
        self.assertEqual(done.stdout, data)
        self.assertIn("capgate-report.json", done.stderr)

    def test_its_words_are_its_own(self):
        words = ["--help", "--", "audit", "", "a b", "--out", "-"]
        done = self.audit(*self.python("import json, sys; print(json.dumps(sys.argv[1:]))"), *words)
        self.assertEqual(json.loads(done.stdout), words)
        self.assertEqual(self.report()["run"]["argv"][3:], words)

    def test_what_stood_in_its_environment_is_kept(self):
        stood = {
            "LD_PRELOAD": "libm.so.6",
            "CUDA_INJECTION64_PATH": "/nowhere/profiler.so",
            "NVTX_INJECTION64_PATH": "/nowhere/nvtx.so",
            "CAPGATE_UNTIL": "captures=1",
        }
        done = self.audit(
            "--region", "decode step*", "--region", "Mine@*",
            *self.python("import json, os; print(json.dumps(dict(os.environ)))"),
            environment=stood,
        )  # fmt: skip
        sees = json.loads(done.stdout)
        library = sees["CAPGATE_PRELOAD"]
        self.assertEqual(pathlib.Path(library).resolve(), LIBRARY.resolve())
        self.assertEqual(sees["LD_PRELOAD"], f"{library}:libm.so.6")
        self.assertEqual(sees["CUDA_INJECTION64_PATH"], library)
        self.assertEqual(sees["CAPGATE_NEXT_INJECTION"], "/nowhere/profiler.so")
        self.assertEqual(sees["NVTX_INJECTION64_PATH"], library)
        self.assertEqual(sees["CAPGATE_NEXT_NVTX_INJECTION"], "/nowhere/nvtx.so")
        self.assertEqual(sees["CAPGATE_REGIONS"], "decode step*\nMine@*")
        self.assertTrue(sees["CAPGATE_TRACE_DIR"].startswith(str(self.temporary)))
        self.assertNotIn("CAPGATE_UNTIL", sees)

    def test_no_file_and_no_signal_setting_of_ours(self):
        done = self.audit(
            *self.python(
                """
                import json, os, signal
                taken = [n for n in range(3, 1024) if os.path.exists(f"/proc/self/fd/{n}")]
                blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [])
                usual = [signal.getsignal(s) == d for s, d in [
                    (signal.SIGTERM, signal.SIG_DFL), (signal.SIGCHLD, signal.SIG_DFL),
                    (signal.SIGHUP, signal.SIG_DFL), (signal.SIGINT, signal.default_int_handler)]]
                print(json.dumps([taken, sorted(blocked), usual]))
            """
            )
        )
        self.assertEqual(json.loads(done.stdout), [[], [], [True] * 4])

    def test_signals_that_were_ignored_stay_ignored(self):
        def ignore():
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)

        done = self.audit(
            *self.python(
                """
                import signal
                print(*(signal.getsignal(s) == signal.SIG_IGN for s in (signal.SIGINT, signal.SIGCHLD)))
            """
            ),
            preexec_fn=ignore,
        )
        self.assertEqual(done.stdout, b"True True\n")
        self.assertEqual(self.report()["run"]["exit_code"], 0)

    def test_a_library_whose_path_cannot_be_preloaded(self):
        place = self.folder / "a b:c"
        for file in (CAPGATE, LIBRARY):
            (place / file.parent.name).mkdir(parents=True)
            shutil.copy2(file, place / file.parent.name / file.name)
        done = self.audit(
            *self.python("import os; print(os.environ['LD_PRELOAD'], os.path.exists(os.environ['LD_PRELOAD']))"),
            program=place / "bin" / "capgate",
        )
        path, exists = done.stdout.decode().rsplit(maxsplit=1)
        self.assertNotRegex(path, "[ :]")
        self.assertEqual(exists, "True")


class HowItEnds(Audit):
    def test_a_program_without_cuda_proves_nothing(self):
        done = self.audit("--", "true")
        self.assertEqual((done.returncode, done.stdout), (2, b""), done.stderr)
        report = self.report()
        self.assertEqual(report["verdict"], "inconclusive")
        self.assertEqual(report["run"]["exit_code"], 0)
        self.assertEqual(len(report["reasons"]), 1)
        self.assertRegex(report["reasons"][0]["text"], "CUDA")
        self.assertRegex(report["reasons"][0]["remedy"], "capgate audit")
        self.assertIn(report["reasons"][0]["remedy"], done.stderr.splitlines()[1])

    def test_a_program_that_fails_is_told_besides(self):
        done = self.audit("--", "sh", "-c", "exit 5")
        self.assertEqual(done.returncode, 2)
        report = self.report()
        self.assertEqual(report["run"]["exit_code"], 5)
        self.assertEqual(len(report["reasons"]), 2)

    def test_a_program_that_dies_of_a_signal(self):
        done = self.audit("--", "sh", "-c", "kill -SEGV $$")
        self.assertEqual(done.returncode, 2)
        run = self.report()["run"]
        self.assertEqual((run["signal"], run["stopped_by_user"]), (int(signal.SIGSEGV), False))
        self.assertIsNone(run.get("exit_code"))

    def test_a_program_that_cannot_be_run(self):
        plain = self.work / "plain"
        plain.write_text("")
        self.assertIn("no such command", self.refused(self.audit("--", "no-such-program-here")))
        self.assertIn("No such file", self.refused(self.audit("--", "./no-such-program")))
        self.assertIn("Permission denied", self.refused(self.audit("--", "./plain")))
        self.assertIn("directory", self.refused(self.audit("--", str(self.work))))
        plain.write_text("#!/no/such/interpreter\n")
        plain.chmod(0o755)
        self.assertIn("No such file", self.refused(self.audit("--", "./plain")))

    def test_a_mistake_costs_no_run(self):
        mark = self.work / "ran"
        (self.work / "bad.supp").write_text("nonsense\n")
        (self.work / "empty.supp").write_text("")
        (self.work / "package.json").write_text('{"name": "engine"}')
        os.mkfifo(self.work / "fifo")
        for words in (
            ["--out", "no/such/folder/r.json"],
            ["--out", str(self.folder)],
            ["--suppressions", "missing.supp"],
            ["--suppressions", "bad.supp"],
            ["--suppressions", "fifo"],
            ["--suppressions", "/dev/zero"],
            ["--suppressions", "-"],
            ["--suppressions", "."],
            ["--suppressions", "empty.supp", "--out", "empty.supp"],
            ["--out", "package.json"],
            ["--trace", "bad.supp/below"],
        ):
            with self.subTest(words=words):
                self.refused(self.audit(*words, "--", "touch", str(mark)))
                self.assertFalse(mark.exists())
        self.assertEqual((self.work / "empty.supp").read_text(), "")
        self.assertEqual((self.work / "package.json").read_text(), '{"name": "engine"}')

    def test_settings_that_are_no_file(self):
        settings = self.work / ".capgate.toml"
        for make in (settings.mkdir, lambda: os.mkfifo(settings), lambda: settings.symlink_to(settings)):
            make()
            self.assertIn(".capgate.toml: is no file", self.refused(self.audit("--", "true")))
            settings.rmdir() if settings.is_dir() else settings.unlink()

    def test_the_settings_in_force_are_a_settings_file(self):
        (self.work / ".capgate.toml").write_text('regions = ["decode*"]\nstep_waits = 3\n[frames]\nuser = ["mine_*"]\n')
        done = self.audit("--dump-config", "--region", 'st"ep', "--suppressions", "a.supp")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        said = tomllib.loads(done.stdout.decode())
        self.assertEqual(said["regions"], ["decode*", 'st"ep'])
        self.assertEqual(said["step_waits"], 3)
        self.assertEqual(said["repository"], str(self.work.resolve()))
        self.assertEqual(said["suppressions"], str(self.work.resolve() / "a.supp"))
        self.assertEqual(said["frames"], {"not_user": [], "user": ["mine_*"]})
        # What was printed, taken as the settings file, is in force as it stands.
        (self.work / ".capgate.toml").write_bytes(done.stdout)
        again = self.audit("--dump-config")
        self.assertEqual(tomllib.loads(again.stdout.decode()), said)
        self.assertFalse((self.work / "capgate-report.json").exists())

    def test_settings_that_cannot_be_read_are_not_dumped(self):
        (self.work / ".capgate.toml").write_text("regions = [\n")
        done = self.audit("--dump-config")
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(".capgate.toml:", done.stderr)

    def test_wrong_usage(self):
        for words, tells in (
            ([], "which program"),
            (["--"], "which program"),
            (["./prog", "--flag"], "write -- before"),
            (["--frobnicate", "--", "true"], "no option --frobnicate"),
            (["--until", "captures=0", "--", "true"], "--until"),
            (["--until", "tokens=3", "--", "true"], "--until"),
            (["--fail-on", "note", "--", "true"], "--fail-on"),
            (["--region", "", "--", "true"], "--region: is empty"),
            (["--region", "a\nb", "--", "true"], "--region: holds a line break"),
            (["--out", "", "--", "true"], "--out: is empty"),
            (["--trace", "", "--", "true"], "--trace: is empty"),
        ):
            with self.subTest(words=words):
                done = self.audit(*words)
                self.assertEqual((done.returncode, done.stdout), (2, b""))
                self.assertIn(tells, done.stderr.splitlines()[0])

    def test_a_missing_detector(self):
        (self.folder / "bin").mkdir()
        program = shutil.copy2(CAPGATE, self.folder / "bin")
        self.assertIn("libcapgate_preload.so is missing", self.refused(self.audit("--", "true", program=program)))

    @unittest.skipUnless(shutil.which("cc"), "no C compiler")
    def test_a_program_whose_run_time_must_come_first(self):
        source = self.work / "p.c"
        source.write_text("int main(void) { return 0; }\n")
        program = self.work / "sanitized"
        built = subprocess.run(["cc", "-fsanitize=address", "-o", program, source], capture_output=True)
        if built.returncode != 0:
            self.skipTest("this compiler has no AddressSanitizer")
        self.assertIn("AddressSanitizer", self.refused(self.audit("--", str(program))))


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
        self.assertIn("is no report", self.refused(self.audit("--out", "model.py", "--", "touch", "ran")))
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


class Signals(Audit):
    def test_a_signal_to_capgate_alone_is_passed_on_and_the_report_still_written(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number.name):
                process = self.start(
                    *self.python(
                        """
                        import os, signal, sys
                        def stop(number, frame):  # perhaps while the line before is still being written
                            os.write(1, b"got %d\\n" % number)
                            sys.exit(0)
                        for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                            signal.signal(s, stop)
                        os.write(1, b"ready\\n")
                        signal.pause()
                    """
                    )
                )
                self.ready(process)
                process.send_signal(number)
                done = self.finish(process)
                self.assertEqual(done.stdout, f"got {int(number)}\n".encode())
                self.assertEqual(done.returncode, 2)
                run = self.report()["run"]
                self.assertEqual((run["exit_code"], run["stopped_by_user"]), (0, True))

    def test_a_program_that_dies_of_the_users_signal_is_not_blamed(self):
        process = self.start("--", "sh", "-c", "echo ready; exec sleep 60")
        self.ready(process)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(process).returncode, 2)
        report = self.report()
        self.assertEqual(report["run"]["signal"], int(signal.SIGTERM))
        self.assertTrue(report["run"]["stopped_by_user"])
        self.assertEqual(len(report["reasons"]), 1, "only that no CUDA was seen")

    def test_a_second_signal_ends_it_at_once(self):
        process = self.start(
            *self.python(
                """
                import os, signal, time
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                open("pid", "w").write(str(os.getpid()))
                print("ready", flush=True)
                time.sleep(300)
            """
            )
        )
        self.ready(process)
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        self.assertIsNone(process.poll())
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        self.assertEqual(self.finish(process).returncode, 130)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertFalse((self.work / "capgate-report.json").exists())
        self.assertEqual(list(self.temporary.iterdir()), [])
        pid = (self.work / "pid").read_text()
        self.assertFalse(os.path.exists(f"/proc/{pid}/exe"), "the program still runs")

    def on_a_terminal(self, source, keys):
        """Runs a program on a terminal of its own; `keys`: (text to wait for, what to type then)."""
        pid, terminal = pty.fork()
        if pid == 0:
            try:
                os.chdir(self.work)
                words = [str(CAPGATE), "audit", *self.python(source)]
                os.execve(words[0], words, self.environment)
            finally:
                os._exit(127)
        seen = b""
        deadline = time.monotonic() + PATIENCE
        keys = list(keys)
        while time.monotonic() < deadline:
            if keys and keys[0][0] in seen:
                os.write(terminal, keys.pop(0)[1])
            if not select.select([terminal], [], [], 0.1)[0]:
                continue
            try:
                part = os.read(terminal, 4096)
            except OSError:  # the last process on it has ended
                break
            if not part:
                break
            seen += part
        _, status = os.waitpid(pid, 0)
        os.close(terminal)
        return os.waitstatus_to_exitcode(status), seen.decode()

    def test_ctrl_c_reaches_the_program_once(self):
        code, seen = self.on_a_terminal(
            """
            import signal, time
            got = []
            signal.signal(signal.SIGINT, lambda number, frame: got.append(number))
            print("ready", flush=True)
            end = time.monotonic() + 30
            while not got and time.monotonic() < end:
                time.sleep(0.05)
            time.sleep(0.5)
            print("interrupted", len(got), "times", flush=True)
            """,
            [(b"ready", b"\x03")],
        )
        self.assertIn("interrupted 1 times", seen)
        self.assertEqual(code, 2)
        self.assertTrue(self.report()["run"]["stopped_by_user"])

    def test_a_second_ctrl_c_ends_it(self):
        code, seen = self.on_a_terminal(
            """
            import os, signal, time
            got = []
            def interrupted(number, frame):  # perhaps while the line before is still being written
                got.append(number)
                time.sleep(0.3)
                os.write(1, b"interrupted %d\\n" % len(got))
            signal.signal(signal.SIGINT, interrupted)
            os.write(1, b"ready\\n")
            end = time.monotonic() + 30
            while time.monotonic() < end:
                time.sleep(0.05)
            """,
            [(b"ready", b"\x03"), (b"interrupted 1", b"\x03")],
        )
        self.assertEqual(code, 130, seen)
        self.assertFalse((self.work / "capgate-report.json").exists())

    def test_orphans_are_looked_after(self):
        done = self.audit(
            *self.python(
                """
                import os, time
                print(os.getppid(), flush=True)
                if os.fork() == 0:
                    if os.fork() == 0:
                        while not os.path.exists("gone"):
                            time.sleep(0.01)
                        print(os.getppid(), flush=True)
                        open("told", "w")
                    os._exit(0)
                os.wait()
                open("gone", "w")
                while not os.path.exists("told"):
                    time.sleep(0.01)
            """
            )
        )
        launcher, adopted_by = done.stdout.split()
        self.assertEqual(launcher, adopted_by)


if __name__ == "__main__":
    unittest.main()
