"""Wrong usage, help and version of the built capgate program."""

import os
import pathlib
import re
import subprocess
import unittest

CAPGATE = os.environ["CAPGATE"]
SOURCE = pathlib.Path(os.environ["CAPGATE_SOURCE"])
COMMANDS = [name for name in os.environ["CAPGATE_COMMANDS"].split(",") if name]


def capgate(*words, **options):
    return subprocess.run([CAPGATE, *words], capture_output=True, text=True, timeout=60, **options)


class Usage(unittest.TestCase):
    def refused(self, *words):
        """What stands on stderr after the name: one sentence, then where help is."""
        done = capgate(*words)
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(done.stdout, "")
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 2, done.stderr)
        self.assertTrue(lines[0].startswith("capgate: "), done.stderr)
        self.assertIn("--help", lines[1])
        return lines[0].removeprefix("capgate: ")

    def test_nothing_at_all_prints_the_help_to_stderr(self):
        done = capgate()
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("Exit codes:", done.stderr)

    def test_an_unknown_command(self):
        self.assertEqual(self.refused("frobnicate"), "there is no command 'frobnicate'")

    def test_an_unknown_option(self):
        self.refused("--frobnicate")
        for command in COMMANDS:
            with self.subTest(command=command):
                self.refused(command, "--frobnicate")

    def test_an_empty_value_is_none(self):
        """As a script gives it whose variable is not set."""
        options = {
            "audit": ["--out", "--region", "--region-fn", "--expect-bucket", "--until", "--trace", "--suppressions", "--fail-on"],
            "env": ["--region", "--until"],
            "collect": ["--out", "--expect-bucket", "--suppressions", "--fail-on"],
            "analyze": ["--out", "--fail-on"],
            "lint": ["--out", "-p", "--changed-since", "--region", "--suppressions", "--sources", "--root", "--cache-dir"],
            "merge": ["--out"],
            "gate": ["--baseline", "--fail-on", "--metrics", "--no-worse-than", "--owner", "--until"],
            "show": ["--baseline", "--rule", "--file", "--severity"],
            "view": ["--baseline", "--out"],
            "export": ["--format", "--baseline", "--out"],
        }
        for command, words in options.items():
            for word in words if command in COMMANDS else []:
                with self.subTest(command=command, option=word):
                    tail = ["--", "true"] if command == "audit" else ["file"]
                    # Or the words that there are.
                    self.assertRegex(self.refused(command, word, "", *tail), ": is (empty|error or|captures=N|MODULE:NAME)")
        for command in {"show", "view", "gate", "merge", "analyze", "explain"} & set(COMMANDS):
            with self.subTest(command=command):
                self.assertIn("is empty", self.refused(command, ""))

    def test_one_option_is_said_in_one_way(self):
        for option in ("--fail-on", "--suppressions"):
            said = set()
            for command in COMMANDS:
                said |= set(re.findall(rf"^  {option} .*$", capgate(command, "--help").stdout, re.MULTILINE))
            self.assertEqual(len(said), 1, said)

    def test_help_names_what_is_given_as_users_do(self):
        for command in COMMANDS:
            with self.subTest(command=command):
                text = capgate(command, "--help").stdout
                self.assertNotRegex(text, r"\bTEXT\b|\{error,warning\}")
                self.assertRegex(text, rf"(?m)^Usage: capgate {command} \[OPTIONS\]")

    def test_a_closed_standard_output_is_no_output(self):
        done = subprocess.run(["sh", "-c", '"$0" rules >&-', CAPGATE], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("standard output: cannot be written", done.stderr)

    def test_a_closed_standard_input_is_not_an_empty_one(self):
        done = subprocess.run(["sh", "-c", '"$0" show - <&-', CAPGATE], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("standard input: cannot be read", done.stderr)

    def test_colour(self):
        self.assertIn("blue", self.refused("--color=blue"))

    def test_version(self):
        done = capgate("--version")
        self.assertEqual((done.returncode, done.stdout), (0, f"capgate {os.environ['CAPGATE_VERSION']}\n"))

    def test_help_lists_exactly_the_commands_of_this_build(self):
        text = capgate("--help").stdout
        listed = re.search(r"^Subcommands:\n((?:  .*\n)+)", text, re.MULTILINE)
        names = re.findall(r"^  (\S+)", listed.group(1), re.MULTILINE) if listed else []
        self.assertEqual(names, COMMANDS)

    def test_a_command_lists_the_exit_codes_that_it_gives(self):
        judging, auditing = {"0", "1", "2"}, {"0", "1", "2", "3", "130"}
        codes = {"": auditing, "audit": auditing, "analyze": judging, "lint": judging, "gate": judging}
        codes |= {"collect": judging, "doctor": judging}
        for command in ["", *COMMANDS]:
            with self.subTest(command=command):
                text = capgate(*([command] if command else []), "--help").stdout
                listed = re.findall(r"^  (\d+) +\S", text.partition("Exit codes:\n")[2], re.MULTILINE)
                self.assertEqual(set(listed), codes.get(command, {"0", "2"}))

    def test_help_fits_a_terminal(self):
        for command in ["", *COMMANDS]:
            with self.subTest(command=command):
                text = capgate(*([command] if command else []), "--help").stdout
                self.assertEqual([line for line in text.splitlines() if len(line) > 110], [])

    def test_every_command_has_a_description_and_help(self):
        text = capgate("--help").stdout
        for command in COMMANDS:
            with self.subTest(command=command):
                self.assertRegex(text, rf"(?m)^  {command}\s+\S")
                done = capgate(command, "--help")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn(command, done.stdout)

    def test_help_tells_every_exit_code(self):
        codes = re.findall(r"kExit\w+ = (\d+)", (SOURCE / "base/exit_code.h").read_text())
        self.assertEqual(len(codes), 5)
        text = capgate("--help").stdout
        for code in codes:
            self.assertRegex(text, rf"(?m)^  {code} +\S")

    def test_every_command_file_is_a_command_of_this_build_or_left_out_on_purpose(self):
        files = [path.stem for path in (SOURCE / "cli").rglob("*.cpp") if re.search(rf"void register_{path.stem}\(", path.read_text())]
        self.assertEqual(set(COMMANDS) - set(files), set())
        self.assertLessEqual(set(files) - set(COMMANDS), {"lint"}, "only lint may be left out of a build")


if __name__ == "__main__":
    unittest.main()
