"""`capgate audit` as a launcher: what the program sees, and what ends how. Needs no GPU.

On a machine with a GPU the verdict of these programs is the same, since none of them uses CUDA.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tomllib
import unittest

from audit_case import CAPGATE, LIBRARY, Audit


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
            self.assertIn(".capgate.toml: cannot be read as a settings file", self.refused(self.audit("--", "true")))
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
            ([], "no program to run is given"),
            (["--"], "no program to run is given"),
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


if __name__ == "__main__":
    unittest.main()
