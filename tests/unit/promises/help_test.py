"""What `--help` says of options and files, where no other test of the command does."""

import json
import os
import pathlib
import pty
import shutil
import subprocess
import textwrap
import unittest

from promise import CAPGATE, GOLDEN, TRACES, Promises, needs_lint, promise

FAILED = GOLDEN / "failed_run.json"
TRACE = TRACES / "cpp/masked_count.faulty.cgtrace"


def on_a_terminal(*words, **environment):
    """What a command prints where standard output is a terminal."""
    ours, its = pty.openpty()
    variables = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    process = subprocess.Popen([CAPGATE, *map(str, words)], stdout=its, env=variables | environment)
    os.close(its)
    printed = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        printed += piece
    os.close(ours)
    process.wait(timeout=60)
    return printed.decode()


class Help(Promises):
    @promise("capgate --help", "Colour: auto (only on a terminal, not under NO_COLOR), always or never")
    def test_colour(self):
        colour = "\x1b["
        self.assertIn(colour, on_a_terminal("show", FAILED))
        self.assertNotIn(colour, on_a_terminal("show", FAILED, NO_COLOR="1"))
        self.assertNotIn(colour, on_a_terminal("--color", "never", "show", FAILED))
        self.assertIn(colour, on_a_terminal("--color", "always", "show", FAILED, NO_COLOR="1"))
        self.assertNotIn(colour, self.output("show", FAILED))
        self.assertIn(colour, self.output("--color", "always", "show", FAILED))

    def test_standard_input_is_read_where_the_help_says_so(self):
        commands = {"show": (), "gate": (), "view": ("--out", "-"), "export": ("--format", "markdown")}
        for command, more in commands.items():
            with self.subTest(command=command):
                promise(f"capgate {command} --help", "The report's file; - reads standard input")(lambda self: None)(self)
                named = self.run_capgate(command, FAILED, *more)
                piped = self.run_capgate(command, "-", *more, stdin=FAILED.read_text(encoding="utf-8"))
                self.assertEqual(piped.returncode, named.returncode, piped.stderr)
                self.assertEqual(piped.stdout.splitlines()[:3], named.stdout.splitlines()[:3])  # before a path is named

    @promise(
        "capgate merge --help",
        "The reports' files; - reads standard input",
        "Where the merged report goes; default -, standard output. No input is overwritten",
    )
    def test_merge_reads_and_writes_standard_streams(self):
        text = FAILED.read_text(encoding="utf-8")
        merged = json.loads(self.output("merge", "-", GOLDEN / "failed_run.json", stdin=text))
        self.assertEqual(merged["verdict"], "fail")
        self.assertEqual(json.loads(self.output("merge", "-", "--out", "-", stdin=text))["verdict"], "fail")
        self.assertEqual(list(self.here.glob("*.json")), [])

    @promise(
        "capgate analyze --help", "Sealed traces (.cgtrace) that capgate audit left", "Where the report goes; default -, standard output"
    )
    def test_analyze_takes_several_traces_and_writes_to_standard_output(self):
        self.assertEqual(json.loads(self.output("analyze", TRACE, code=1))["tool"]["component"], "detector")
        self.assertEqual(json.loads(self.output("analyze", TRACE, TRACE, code=1))["tool"]["component"], "merge")
        other = TRACE.with_name("masked_count.clean.cgtrace")
        self.assertRegex(
            self.run_capgate("analyze", TRACE, other).stderr,
            r"masked_count\.\w+\.cgtrace is about build \w+, .*masked_count\.\w+\.cgtrace about",
        )
        self.assertEqual(list(self.here.iterdir()), [])

    @needs_lint
    @promise("capgate lint --help", "Sources parsed at a time; default: one per core")
    def test_lint_parses_one_source_per_core(self):
        worker = pathlib.Path(CAPGATE).with_name("capgate-lint-worker")
        capgate = self.here / "bin/capgate"
        log = self.write("log", "")
        # Each waits until as many as expected have begun, however slow the machine is, and a little for one too many.
        wait = f"""#!/bin/bash
            echo begin >> {log}
            for ((i = 0; i < 600; i++)); do
              (($(grep -c begin {log}) >= EXPECTED)) && break
              sleep 0.05
            done
            sleep 0.3
            echo end >> {log}
            exec {worker} "$@"
        """
        self.write("bin/capgate-lint-worker", textwrap.dedent(wait)).chmod(0o755)
        shutil.copy(CAPGATE, capgate)
        sources = [self.write(f"{number}.cpp", f"void f{number}() {{}}\n") for number in range(5)]
        cores = sorted(os.sched_getaffinity(0))
        for words, allowed, expected in (((), cores, min(5, len(cores))), ((), cores[:1], 1), (("-j", "3"), cores[:1], 3)):
            with self.subTest(words=words, cores=len(allowed)):
                log.write_text("", encoding="utf-8")
                done = subprocess.run(
                    [capgate, "lint", "--no-cache", *words, *sources, "--"], capture_output=True, text=True, cwd=self.here,
                    preexec_fn=lambda cores=allowed: os.sched_setaffinity(0, cores), timeout=200,
                    env={**os.environ, "EXPECTED": str(expected)},
                )  # fmt: skip
                self.assertIn("5 files parsed", done.stdout, done.stderr)
                steps = [1 if line == "begin" else -1 for line in log.read_text(encoding="utf-8").split()]
                self.assertEqual(max(sum(steps[: end + 1]) for end in range(len(steps))), expected)

    @promise("capgate export --help", "Where the output goes; default -, standard output. No input is overwritten")
    def test_export_writes_to_standard_output(self):
        self.assertIn("host-sync", self.output("export", FAILED, "--format", "gcc"))
        self.assertEqual(list(self.here.iterdir()), [])

    @promise("capgate show --help", "Notes and suppressed faults in full, stacks unfolded, no list cut short")
    def test_all_leaves_nothing_out(self):
        report = TRACES / "python/deepseek_v4_step.faulty.json"
        short, whole = self.output("show", report), self.output("show", "--all", report)
        folded = [line for line in short.splitlines() if line.strip().startswith("… ")]
        self.assertTrue(folded)
        self.assertEqual([line for line in whole.splitlines() if line.strip().startswith("… ")], [])
        frames = {frame["function"].split("(")[0] for fault in json.loads(report.read_text())["violations"] for stack in fault["stacks"]
                  for frame in stack["frames"] if frame["function"].startswith("at::")}  # fmt: skip
        self.assertGreater(len(frames), 5)
        self.assertEqual([name for name in frames if name not in whole], [])
        with_notes = json.loads(FAILED.read_text(encoding="utf-8"))
        quiet = [fault["message"] for fault in with_notes["violations"] if fault["severity"] == "note" or fault["suppressed"]]
        self.assertTrue(quiet)
        flat = " ".join(self.output("show", "--all", FAILED).split())
        for message in quiet:
            self.assertIn(" ".join(message.split()), flat)


if __name__ == "__main__":
    unittest.main()
