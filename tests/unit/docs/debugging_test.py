#!/usr/bin/env python3
"""Runs every command of docs/debugging.md, in order and in one shell, and looks for each excerpt in what was printed."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/debugging.md"
BUILD = os.environ["CAPGATE_BUILD"]
HAS_LINT = os.environ["CAPGATE_HAS_LINT"] == "1"


def blocks(text):
    """[[commands, excerpt or None]]: each block of commands with the block that follows it, if that shows output."""
    found = []
    for indent, language, body in re.findall(r"^( *)```(\w*)\n(.*?)^ *```$", text, re.DOTALL | re.MULTILINE):
        body = textwrap.dedent(body) if indent else body
        if language == "sh":
            found.append([body.splitlines(), None])
        elif not language:
            assert found[-1][1] is None, body
            found[-1][1] = body
    return found


def can_debug():
    """gdb is there and may trace a child."""
    if not shutil.which("gdb"):
        return False
    done = subprocess.run(["gdb", "-batch", "-ex", "run", "--args", "true"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return "exited normally" in done.stdout


def is_left_out(command):
    return (
        command.startswith("cmake ") or (command.startswith("gdb ") and not can_debug()) or ("/capgate lint " in command and not HAS_LINT)
    )


def matches(excerpt, output):
    """The first line of the excerpt that is not there, in order; None when all are."""
    lines = iter(output.splitlines())
    for wanted in excerpt.splitlines():
        pattern = re.compile(".*".join(re.escape(part) for part in wanted.split("…")))
        if not any(pattern.search(line) for line in lines):
            return wanted
    return None


class Debugging(unittest.TestCase):
    def test_every_command_does_what_the_page_shows(self):
        with tempfile.TemporaryDirectory() as folder:

            def here(text):
                return re.sub(r"(\$PWD/)?build/release", BUILD, text).replace("/tmp/capgate", folder)

            wanted, script = [], ["exec 2>&1 </dev/null"]
            for commands, excerpt in blocks(PAGE.read_text(encoding="utf-8")):
                for command in commands:
                    if is_left_out(command):
                        excerpt = None
                        continue
                    told = re.search(r" +# exits with (\d+)$", command)
                    wanted.append((command, int(told[1]) if told else 0, None))
                    script.append(f"{here(command)}\nprintf '\\n<<exit %s>>\\n' $?")
                if excerpt is not None:
                    wanted[-1] = (*wanted[-1][:2], here(excerpt))
            done = subprocess.run(["bash", "-c", "\n".join(script)], cwd=ROOT, capture_output=True, text=True, timeout=250)
        self.assertGreater(len(wanted), 10)
        outputs = re.findall(r"(.*?)\n<<exit (\d+)>>\n", done.stdout, re.DOTALL)
        self.assertEqual(len(outputs), len(wanted), done.stdout)
        for (command, code, excerpt), (output, exit_code) in zip(wanted, outputs):
            with self.subTest(command=command):
                self.assertEqual(int(exit_code), code, output)
                if excerpt is not None:
                    self.assertIsNone(matches(excerpt, output), output)

    def test_an_excerpt_that_is_not_printed_is_missed(self):
        self.assertIsNone(matches("a …\nc\n", "a b\nx\nc\n"))
        self.assertEqual(matches("c\na …\n", "a b\nx\nc\n"), "a …")


if __name__ == "__main__":
    if os.environ.get("CAPGATE_SANITIZE"):
        print("the preloaded library does not share a process with a sanitizer")
        sys.exit(77)
    unittest.main()
