"""What README, CONTRIBUTING and the pages for users say is so: commands and options exist, paths exist, outputs are what capgate prints."""

import fnmatch
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

CAPGATE = os.environ["CAPGATE"]
SOURCE = pathlib.Path(os.environ["CAPGATE_SOURCE"])
COMMANDS = [name for name in os.environ["CAPGATE_COMMANDS"].split(",") if name]
PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    "examples/README.md",
    "docs/ci.md",
    "docs/lint.md",
    "docs/page.md",
    "docs/launchers.md",
    "docs/install.md",
    "docs/pytest.md",
    "docs/settings.md",
    "docs/compatibility.md",
    "SECURITY.md",
    "CHANGELOG.md",
]


def page(name):
    return (SOURCE / name).read_text()


def fenced(text, *languages):
    """Every block is taken in its turn: what ends one does not begin another."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [body for language, body in blocks if language in languages]


def capgate_lines(text):
    """Command lines of capgate, in blocks and between backticks, without the comment and the audited program."""
    lines = [line for block in fenced(text, "sh", "") for line in block.splitlines()]
    lines += re.findall(r"^ {4}(capgate .*)", text, re.MULTILINE)
    lines += re.findall(r"`(capgate [^`]*)`", text)
    for line in lines:
        line = re.sub(r"\s#.*", "", line.removeprefix("$ "))
        if line.startswith("capgate ") and not line.startswith("capgate:"):
            yield line.split(" -- ")[0].split()[1:]


class Docs(unittest.TestCase):
    def help(self, *words):
        return subprocess.run([CAPGATE, *words, "--help"], capture_output=True, text=True, check=True).stdout

    def test_every_command_line_is_one_that_capgate_takes(self):
        seen = set()
        for name in PAGES:
            for words in capgate_lines(page(name)):
                command = words[0]
                with self.subTest(page=name, line=" ".join(words)):
                    if command == "lint" and "lint" not in COMMANDS:
                        continue
                    self.assertIn(command, COMMANDS)
                    seen.add(command)
                    text = self.help(command)
                    for word in words[1:]:
                        if word.startswith("-") and word != "-":
                            self.assertRegex(text, rf"(?m)^\s+(-\w,)?{re.escape(word.split('=')[0])}\b|[ ,]{re.escape(word)}\b")
        self.assertLessEqual({"audit", "gate", "merge", "analyze", "show", "explain"}, seen)

    def test_the_readmes_options_of_audit_are_all_there_are(self):
        table = set(re.findall(r"^\| `(--[a-z-]+)", page("README.md"), re.MULTILINE))
        options = set(re.findall(r"^  (--[a-z-]+)", self.help("audit"), re.MULTILINE))
        self.assertEqual(table, options)

    def test_a_report_that_a_page_reads_was_written_there_before(self):
        """So that a reader who types what stands there from the top on never names a file that is not there."""
        kept = {"main.json", "missing.json"}  # of another branch; the one that must not be there
        for name in PAGES:
            written = set(kept)
            for words in capgate_lines(page(name)):
                outs = {word for before, word in zip(words, words[1:]) if before in ("--out", "--metrics")}
                if words[0] in ("merge", "gate", "show"):
                    for word in {word for word in words if word.endswith(".json")} - outs:
                        with self.subTest(page=name, line=" ".join(words)):
                            self.assertTrue(
                                fnmatch.filter(written, word) or (SOURCE / word).exists(), f"{word} was written by nothing above"
                            )
                written |= outs or ({"capgate-report.json"} if words[0] == "audit" else set())

    def test_pages_tell_every_exit_code(self):
        told = {
            "docs/ci.md": {"0", "1", "2", "3", "130"},  # of all commands
            "docs/lint.md": {"0", "1", "2"},  # of lint
        }
        for name, codes in told.items():
            with self.subTest(page=name):
                paragraphs = [p for p in page(name).split("\n\n") if re.match(r"(Exit codes:|The exit code is) ", p)]
                self.assertEqual(len(paragraphs), 1)
                self.assertEqual(set(re.findall(r"\b(\d+)\b", paragraphs[0])), codes)

    def test_ci_never_judges_what_an_earlier_run_left(self):
        lines = [line for block in fenced(page("docs/ci.md"), "sh") for line in block.splitlines() if line and not line.startswith("#")]
        removed = set(re.match(r"rm -f ([\w. -]+?) *(#|$)", lines[0])[1].split())
        written = {words[words.index("--out") + 1] for words in capgate_lines("```sh\n" + "\n".join(lines) + "\n```\n") if "--out" in words}
        self.assertEqual(removed, written)

    def test_the_readmes_cost_is_the_measured_one(self):
        rows = dict(re.findall(r"^\| ([^|]+?) \| ([\d.]+ \|[^|]*\|[^|]*\| \d+) MiB", page("docs/measured/overhead.md"), re.MULTILINE))
        told = re.search(
            r"(\d+) % of the time of a replayed graph of 500 kernels, (\d+) % of a marked PyTorch step, (\d+) MiB in a\s+PyTorch process",
            page("README.md"),
        )
        replay, marked = rows["replay of a graph of 500 kernels"], rows["PyTorch eager step, marked"]
        self.assertEqual(round((float(replay.split()[0]) - 1) * 100), int(told[1]))
        self.assertEqual(round((float(marked.split()[0]) - 1) * 100), int(told[2]))
        self.assertEqual(marked.split()[-1], told[3])

    def test_the_versions_that_pages_name_are_the_codes(self):
        cupti = (SOURCE / "detector/preload/cuda/cupti_api.cpp").read_text()
        told = re.search(r"CUDA (\d+)\.0 and driver \d+\. The detector also loads the CUPTI of CUDA (\d+) or (\d+)", page("README.md"))
        self.assertEqual({f"libcupti.so.{version}" for version in told.groups()}, set(re.findall(r"libcupti\.so\.\d+", cupti)))
        ranks = (SOURCE / "detector/preload/entry/process_facts.cpp").read_text()
        for name in ("RANK", "SLURM_PROCID"):
            self.assertIn(f'"{name}"', ranks)
            self.assertIn(f"`{name}`", page("docs/launchers.md"))

    def test_the_python_example_uses_what_there_is(self):
        blocks = fenced(page("README.md"), "python")
        self.assertEqual(len(blocks), 1)
        done = subprocess.run(["python3", "-c", "def step(): pass\n" + blocks[0]], capture_output=True, text=True,
                              env=os.environ | {"PYTHONPATH": str(SOURCE / "detector/python")})  # fmt: skip
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_links_and_paths_lead_somewhere(self):
        for name in PAGES:
            text = page(name)
            folder = (SOURCE / name).parent
            for target in re.findall(r"\]\(([^)#]+)\)", text):
                if not target.startswith("http"):
                    with self.subTest(page=name, target=target):
                        self.assertTrue((folder / target).exists())
            for path in re.findall(r"`((?:scripts|cli|detector|reports|tests|docs|static_checks|engine|kernels)/[\w./-]+)`", text):
                if {"NAME", "AREA"} & set(re.split(r"[/.]", path)):  # stands for any
                    continue
                with self.subTest(page=name, path=path):
                    self.assertTrue((SOURCE / path).exists())

    def test_scripts_and_presets_that_are_named_exist(self):
        presets = (SOURCE / "CMakePresets.json").read_text()
        for name in PAGES:
            for block in fenced(page(name), "sh"):
                for script in re.findall(r"(?:^|[ /])(scripts/[\w-]+)", block, re.MULTILINE):
                    with self.subTest(page=name, script=script):
                        self.assertTrue(os.access(SOURCE / script, os.X_OK))
                for preset in re.findall(r"--preset (\w+)", block):
                    self.assertIn(f'"name": "{preset}"', presets)

    def test_the_readmes_exit_codes_are_the_programs(self):
        codes = set(re.findall(r"^\| \S* ?\| (\d+) \|", page("README.md"), re.MULTILINE))
        self.assertEqual(codes, set(re.findall(r"kExit\w+ = (\d+)", (SOURCE / "base/exit_code.h").read_text())))

    @unittest.skipUnless("lint" in COMMANDS, "capgate lint is not part of this build")
    def test_the_example_of_lint_is_what_lint_prints(self):
        (source,) = fenced(page("docs/lint.md"), "cpp")[:1]
        (shown,) = fenced(page("docs/lint.md"), "console")
        command, output = shown.split("\n", 1)
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "step.cu").write_text(source)
            done = subprocess.run([CAPGATE, *command.removeprefix("$ capgate ").split()], cwd=folder, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (1, output, ""))

    def test_the_include_folder_before_an_installation_has_the_header(self):
        (folder,) = re.findall(r"Before an installation `-I(\S+)` has the header", page("README.md"))
        self.assertTrue((SOURCE / folder / "capgate/capgate.h").is_file())

    def test_outputs_that_are_shown_are_what_capgate_prints(self):
        done = subprocess.run(
            [SOURCE / "scripts/generate/readme", "--check"],
            env=os.environ | {"CAPGATE": CAPGATE, "COLUMNS": "100"}, capture_output=True, text=True,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
