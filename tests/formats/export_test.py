"""`capgate export` from outside. Each format is read by its schema or by a program that reads such files; where one is not installed
(scripts/deps does it), that test is skipped by name."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.append("/usr/lib/python3/dist-packages")  # Debian's packages, for a Python that is not Debian's

CAPGATE = os.environ["CAPGATE"]
SOURCE = pathlib.Path(os.environ["CAPGATE_SOURCE"])
TRACES = SOURCE / "tests" / "traces"
FAULTY = TRACES / "python" / "deepseek_v4_step.faulty.json"
SARIF_SCHEMA = SOURCE / "reports/viewer/node_modules/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json"
EVIL = "%x\n::error::no\r##[add-mask]no <b>&amp;</failure>]]> [a](javascript:b) @me | `code` \u202e\x1b[31m \"',:"


def reports():
    for path in sorted(TRACES.rglob("*.json")):
        report = json.loads(path.read_text(encoding="utf-8"))
        if report.get("schema") == "capgate-report/1":
            yield path, report


def evil_report():
    report = json.loads(FAULTY.read_text(encoding="utf-8"))
    for violation in report["violations"]:
        violation["message"] = violation["hint"] = EVIL
        violation["location"] = {"file": f"./a b/{EVIL}", "line": 3, "function": EVIL}
        violation["source"] = [{"line": 3, "text": EVIL + "```"}]
        violation["flow"] = [{"file": EVIL, "line": 1, "message": EVIL}]
        violation["details"] = {EVIL: EVIL}
    report["reasons"] = [{"text": EVIL, "remedy": EVIL}]
    return report


def many(count):
    report = json.loads(FAULTY.read_text(encoding="utf-8"))
    first = report["violations"][0]
    report["violations"] = [first | {"id": f"{i:016x}"} for i in range(count)]
    report["summary"] |= {"errors": count, "symptoms": 0, "by_rule": {first["rule"]: count}}
    return report


def counts_with_its_cause(report, violation):
    """Whether the violation is a symptom that the summary does not count."""
    cause = next((one for one in report["violations"] if one["id"] == violation.get("symptom_of")), None)
    grave = ["error", "warning", "note"]
    return (
        cause is not None
        and cause["suppressed"] is None
        and violation["suppressed"] is None
        and grave.index(cause["severity"]) <= grave.index(violation["severity"])
    )


def by_cause(report):
    """Causes in the report's order, then symptoms: what shows ten of them shows ten things to change."""
    return sorted(report["violations"], key=lambda one: counts_with_its_cause(report, one))


class Export(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = pathlib.Path(folder.name)

    def run_export(self, *words, environment=None):
        return subprocess.run(
            [CAPGATE, "export", *map(str, words)],
            capture_output=True,
            text=True,
            cwd=self.here,
            env={**{k: v for k, v in os.environ.items() if k != "GITHUB_STEP_SUMMARY"}, **(environment or {})},
            check=False,
        )

    def export(self, report, name, *words):
        if isinstance(report, dict):
            path = self.here / "report.json"
            path.write_text(json.dumps(report), encoding="utf-8")
            report = path
        done = self.run_export(report, "--format", name, *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    # The command

    def test_a_format_that_there_is_not_and_a_bad_report_are_one_sentence(self):
        done = self.run_export(FAULTY, "--format", "pdf")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        done = self.run_export("nothing.json", "--format", "gcc")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("nothing.json", done.stderr)

    def test_no_input_is_overwritten(self):
        path = self.here / "run.json"
        path.write_bytes(FAULTY.read_bytes())
        done = self.run_export(path, "--format", "sarif", "--out", path)
        self.assertEqual(done.returncode, 2)
        self.assertIn("would be lost", done.stderr)
        self.assertEqual(path.read_bytes(), FAULTY.read_bytes())

    def test_an_export_replaces_an_older_one_and_no_other_file(self):
        healthy = TRACES / "healthy/llama_layer.healthy.json"
        for name in ("sarif", "junit", "gitlab", "github", "markdown", "gcc"):
            with self.subTest(format=name):
                out = self.here / name
                out.touch()
                for report in (FAULTY, healthy, FAULTY):
                    done = self.run_export(report, "--format", name, "--out", out)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                for text in (
                    "notes\n",
                    '{"name": "capgate-viewer"}',
                    "[1, 2]",
                    "<?xml?><project/>",
                    "### changes",
                    "a.cu:1: error: no [-Wall]\n",
                ):
                    out.write_text(text, encoding="utf-8")
                    done = self.run_export(FAULTY, "--format", name, "--out", out)
                    self.assertEqual((done.returncode, done.stdout), (2, ""))
                    self.assertIn("is not an export of capgate; refusing to overwrite it", done.stderr)
                    self.assertEqual(out.read_text(encoding="utf-8"), text)

    # SARIF

    def check_sarif(self, log, report):
        (run,) = log["runs"]
        rules = run["tool"]["driver"]["rules"]
        ranked = by_cause(report)
        self.assertEqual([one["ruleId"] for one in run["results"]], [one["rule"] for one in ranked])
        for result, violation in zip(run["results"], ranked, strict=True):
            self.assertEqual(result["properties"].get("symptomOf"), violation.get("symptom_of"))
            self.assertEqual("(a symptom of " in result["message"]["text"], counts_with_its_cause(report, violation))
            self.assertEqual(rules[result["ruleIndex"]]["id"], violation["rule"])
            self.assertEqual(result["level"], violation["severity"])
            self.assertIn(violation["id"], result["partialFingerprints"].values())
            self.assertEqual(bool(result.get("suppressions")), violation["suppressed"] is not None)
            self.assertEqual(len(result.get("stacks", [])), len(violation["stacks"]))
            for physical in (one["physicalLocation"] for one in result["locations"] if "physicalLocation" in one):
                self.assertEqual(physical["region"]["startLine"], violation["location"]["line"])
                lines = [one["text"] for one in violation.get("source", []) if one["line"] == violation["location"]["line"]]
                if lines:
                    self.assertEqual(physical["region"]["snippet"]["text"].split(), lines[0].split())
        hashes = [one["partialFingerprints"]["primaryLocationLineHash"] for one in run["results"]]
        self.assertEqual(len(set(hashes)), len(hashes))

    def test_sarif_says_what_the_report_says(self):
        for path, report in reports():
            with self.subTest(report=path.name):
                self.check_sarif(json.loads(self.export(path, "sarif")), report)

    @unittest.skipUnless(SARIF_SCHEMA.is_file(), "no SARIF schema: scripts/deps installs it")
    def test_sarif_keeps_the_official_schema(self):
        import jsonschema

        validator = jsonschema.Draft4Validator(json.loads(SARIF_SCHEMA.read_text(encoding="utf-8")))
        for report in [*(path for path, _ in reports()), evil_report()]:
            log = json.loads(self.export(report, "sarif"))
            self.assertEqual([f"{list(e.path)}: {e.message[:200]}" for e in validator.iter_errors(log)], [])
        log["runs"][0]["results"][0]["level"] = "fatal"
        self.assertFalse(validator.is_valid(log))

    def test_sarif_states_what_is_new_and_names_places_as_uris(self):
        log = json.loads(self.export(FAULTY, "sarif", "--baseline", TRACES / "python/item_in_helper.faulty.json"))
        self.assertEqual({one["baselineState"] for one in log["runs"][0]["results"]}, {"new"})
        log = json.loads(self.export(FAULTY, "sarif", "--baseline", FAULTY))
        self.assertEqual({one["baselineState"] for one in log["runs"][0]["results"]}, {"unchanged"})
        log = json.loads(self.export(evil_report(), "sarif"))
        uri = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        self.assertTrue(uri.startswith("a%20b/%25x"), uri)
        self.assertRegex(uri, r"^[A-Za-z0-9/%._~-]+$")

    def test_sarif_stays_within_the_limits_of_github(self):
        log = json.loads(self.export(many(26_000), "sarif"))
        (run,) = log["runs"]
        self.assertEqual(len(run["results"]), 25_000)
        self.assertIn("1000 findings more", json.dumps(run["invocations"]))
        self.assertIn("stacks", run["results"][4999])
        self.assertNotIn("stacks", run["results"][5000])

    # JUnit

    def test_junit_is_read_by_a_parser_of_it(self):
        try:
            import junitparser
        except ImportError:
            self.skipTest("no junitparser: scripts/deps installs it")
        for report_path, report in [*reports(), (evil_report(), evil_report())]:
            text = self.export(report_path, "junit")
            suites = junitparser.JUnitXml.fromstring(text.encode())
            (suite,) = list(suites)
            cases = list(suite)
            failed = [case for case in cases if any(isinstance(one, junitparser.Failure) for one in case.result)]
            open_errors = {one["rule"] for one in report["violations"] if one["severity"] == "error" and not one["suppressed"]}
            self.assertEqual({case.name for case in failed} - {"verdict"}, open_errors)
            self.assertEqual("verdict" in {case.name for case in failed}, report["verdict"] == "fail")
            self.assertEqual((suite.tests, suite.failures), (len(cases), len(failed)))
            self.assertGreater(len(cases), 5)

    def test_junit_is_red_for_a_verdict_that_proves_nothing(self):
        report = json.loads((TRACES / "healthy/llama_layer.healthy.json").read_text(encoding="utf-8"))
        report |= {"verdict": "inconclusive", "reasons": [{"text": "why", "remedy": "how"}]}
        root = xml.etree.ElementTree.fromstring(self.export(report, "junit"))
        self.assertEqual(root.attrib["errors"], "1")
        self.assertIn("to do: how", root.find(".//error").text)

    # GitLab

    def test_gitlab_gets_what_it_requires(self):
        for report_path, report in [*reports(), (evil_report(), evil_report())]:
            entries = json.loads(self.export(report_path, "gitlab"))
            self.assertEqual(len(entries), sum(one["suppressed"] is None for one in report["violations"]))
            for entry in entries:
                self.assertEqual(set(entry), {"description", "check_name", "fingerprint", "severity", "location"})
                self.assertIn(entry["severity"], {"info", "minor", "major", "critical", "blocker"})
                self.assertGreaterEqual(entry["location"]["lines"]["begin"], 1)
                self.assertFalse(entry["location"]["path"].startswith("./"))
                self.assertTrue(entry["location"]["path"] and entry["description"])
            self.assertEqual(len({entry["fingerprint"] for entry in entries}), len(entries))

    # With a baseline

    def baseline_of(self, *places):
        """A baseline file that knows the causes whose lines hold one of these words."""
        path = self.here / "all.txt"
        subprocess.run([CAPGATE, "gate", FAULTY, "--allow-eager", "--baseline", path, "--update-baseline"], capture_output=True, check=True)
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        known = self.here / "known.txt"
        known.write_text("".join(one for one in lines if one.startswith("#") or any(part in one for part in places)), encoding="utf-8")
        return known

    def test_each_format_begins_with_what_is_new(self):
        """The wait in masking_utils.py is the second cause of the report; the first one is known here, with its symptoms."""
        known = self.baseline_of("modeling_deepseek_v4.py")
        line = "Against known.txt: 1 error new; 1 error known; nothing fixed"
        text = self.export(FAULTY, "github", "--baseline", known.name)
        done = self.commands(text)
        self.assertEqual([one[0] for one in done], ["error"] + ["notice"] * 5)
        self.assertIn("masking_utils.py", done[0][1]["file"])
        self.assertEqual([one[1]["title"] for one in done], ["capgate host-sync"] + ["capgate host-sync (known)"] * 5)
        self.assertIn(" - 1 new error, 1 known error: ", text)
        self.assertEqual(text.splitlines()[-1], line)
        text = self.export(FAULTY, "markdown", "--baseline", known.name)
        self.assertIn("masking\\_utils.py:604", text.splitlines()[0])
        self.assertEqual(text.splitlines()[2].replace("\\", ""), line)
        self.assertIn("**host\\-sync** at `transformers/masking_utils.py:604`", text)
        self.assertIn("| error, new | `host-sync` | `transformers/masking_utils.py:604`", text)
        self.assertEqual(text.count("| error, known | "), 5)
        first, *rest = self.export(FAULTY, "gcc", "--baseline", known.name).splitlines()
        self.assertTrue(first.startswith("transformers/masking_utils.py:604: error: the host "), first)
        self.assertEqual(sum(": note: known: " in one for one in rest), 5)
        self.assertFalse(any(": error: " in one for one in rest), rest)
        root = xml.etree.ElementTree.fromstring(self.export(FAULTY, "junit", "--baseline", known.name))
        self.assertEqual(root.attrib["failures"], "2")
        failures = {case.attrib["name"]: case.find("failure") for case in root.iter("testcase")}
        self.assertTrue(failures["host-sync"].attrib["message"].startswith("1 error: transformers/masking_utils.py:604"))
        self.assertIn(line, failures["verdict"].text)
        log = json.loads(self.export(FAULTY, "sarif", "--baseline", known.name))
        self.assertEqual([one["baselineState"] for one in log["runs"][0]["results"]], ["new"] + ["unchanged"] * 5)

    def test_nothing_known_is_between_a_new_cause_and_its_symptoms(self):
        done = self.commands(self.export(FAULTY, "github", "--baseline", self.baseline_of("masking_utils.py").name))
        self.assertEqual([one[0] for one in done], ["error"] + ["notice"] * 5)
        self.assertEqual([one[1]["title"] for one in done], ["capgate host-sync"] * 5 + ["capgate host-sync (known)"])

    def test_where_all_is_known_no_format_fails(self):
        known = self.baseline_of("transformers/")
        text = self.export(FAULTY, "github", "--baseline", known.name)
        self.assertEqual([one[0] for one in self.commands(text)], ["notice"] * 6)
        self.assertTrue(text.splitlines()[-2].startswith("PASS (eager step only): "), text)
        self.assertEqual(text.splitlines()[-1], "Against known.txt: nothing new; 2 errors known; nothing fixed")
        root = xml.etree.ElementTree.fromstring(self.export(FAULTY, "junit", "--baseline", known.name))
        self.assertEqual((root.attrib["failures"], root.attrib["errors"]), ("0", "0"))
        outputs = {case.attrib["name"]: case.findtext("system-out") for case in root.iter("testcase")}
        self.assertEqual(outputs["host-sync"].count(": known error: "), 6)
        self.assertTrue(self.export(FAULTY, "markdown", "--baseline", known.name).startswith("### capgate: PASS "))
        self.assertEqual(json.loads(self.export(FAULTY, "sarif", "--baseline", known.name))["runs"][0]["properties"]["verdict"], "pass")

    def test_marks_in_the_report_itself_are_no_comparison(self):
        report = json.loads(FAULTY.read_text(encoding="utf-8"))
        for violation in report["violations"]:
            violation["baseline"] = "known"
        self.assertEqual([one[0] for one in self.commands(self.export(report, "github"))], ["error"] * 2 + ["notice"] * 4)
        self.assertEqual(xml.etree.ElementTree.fromstring(self.export(report, "junit")).attrib["failures"], "2")

    # What a report's names may do

    def test_no_format_keeps_what_turns_the_direction_of_writing(self):
        turns = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
        report = json.loads(FAULTY.read_text(encoding="utf-8"))
        report["tool"]["version"] = report["subject"]["program"] = turns
        report["summary"]["by_rule"] = {"host-sync" + turns: 6}
        for violation in report["violations"]:
            violation["rule"] = "host-sync" + turns
            violation["location"]["file"] = f"a{turns}.cu"
            violation["location"]["function"] = violation["message"] = violation["hint"] = turns
            for stack in violation["stacks"]:
                for frame in stack["frames"]:
                    frame["file"] = frame["function"] = frame["module"] = turns
        for name in ("sarif", "junit", "gitlab", "github", "markdown", "gcc"):
            with self.subTest(format=name):
                text = self.export(report, name)
                self.assertEqual([f"U+{ord(one):04X}" for one in turns if one in text], [])
                self.assertNotIn("%E2%80%AE", text)

    def test_huge_names_are_cut_where_people_read(self):
        report = json.loads(FAULTY.read_text(encoding="utf-8"))
        for violation in report["violations"]:
            violation["location"] = {"file": "", "line": 0, "function": "f" * 100_000}
            violation["message"] = violation["hint"] = "m" * 100_000
        for name in ("github", "junit", "gitlab", "markdown", "gcc"):
            with self.subTest(format=name):
                self.assertNotIn("m" * 2100, self.export(report, name))
                self.assertNotIn("f" * 300, self.export(report, name))

    # GitHub

    def commands(self, text):
        """(command, properties, message) of each line that GitHub's runner takes for a command."""
        found = []
        for line in text.split("\n"):
            self.assertNotIn("##[", line)
            match = re.fullmatch(r"\s*::([\w-]+)( [^:]*)?::(.*)", line)
            if match:
                properties = dict(pair.split("=", 1) for pair in (match[2] or "").strip().split(",") if pair)
                found.append((match[1], properties, match[3]))
            else:
                self.assertNotIn("::", line[:3])
        return found

    def test_github_annotates_the_lines(self):
        done = self.commands(self.export(FAULTY, "github"))
        report = json.loads(FAULTY.read_text(encoding="utf-8"))
        self.assertEqual(report["summary"]["symptoms"], 4)
        for (command, properties, message), violation in zip(done, by_cause(report), strict=True):
            self.assertEqual(command, "notice" if "symptom_of" in violation else "error")
            self.assertEqual(properties["file"], violation["location"]["file"])
            self.assertEqual(properties["line"], str(violation["location"]["line"]))
            self.assertIn(violation["message"], message)

    def test_github_gets_ten_and_a_line_that_counts_the_rest(self):
        text = self.export(many(50), "github")
        self.assertEqual(len(self.commands(text)), 10)
        self.assertIn("\n40 findings more in the report\n", text)

    def test_github_runs_nothing_of_a_report(self):
        for command, properties, _ in self.commands(self.export(evil_report(), "github")):
            self.assertIn(command, {"error", "notice"})
            self.assertLessEqual(set(properties), {"file", "line", "col", "title"})

    def test_github_adds_to_the_summary_of_the_job(self):
        summary = self.here / "summary.md"
        summary.write_text("before\n", encoding="utf-8")
        done = self.run_export(FAULTY, "--format", "github", environment={"GITHUB_STEP_SUMMARY": str(summary)})
        self.assertEqual(done.returncode, 0)
        self.assertEqual(summary.read_text(encoding="utf-8"), "before\n" + self.export(FAULTY, "markdown"))

    # Markdown

    @unittest.skipUnless(shutil.which("cmark-gfm"), "no cmark-gfm: scripts/deps installs it")
    def test_markdown_is_rendered_as_github_does_it_and_nothing_of_a_report_is_markup(self):
        def html(report):
            text = self.export(report, "markdown")
            words = ["cmark-gfm", "--unsafe", "-e", "table", "-e", "autolink", "-e", "strikethrough"]
            return subprocess.run(words, input=text, capture_output=True, text=True, check=True).stdout

        page = html(FAULTY)
        self.assertEqual(page.count("<tr>"), 7)
        self.assertIn("<strong>Fix:</strong>", page)
        tags = {"h3", "p", "strong", "code", "pre", "table", "thead", "tbody", "tr", "th", "td"}
        for report in [*(path for path, _ in reports()), evil_report()]:
            self.assertLessEqual(set(re.findall(r"<([a-z0-9]+)", html(report))), tags)

    # gcc

    def test_gcc_messages_are_one_line_each(self):
        line = re.compile(r"[^\n]+?(:\d+)?(:\d+)?: (error|warning|note): [^\n]+")
        for report_path, report in [*reports(), (evil_report(), evil_report())]:
            text = self.export(report_path, "gcc")
            for one in text.splitlines():
                self.assertRegex(one, line)
            faults = [one for one in report["violations"] if not one["suppressed"]]
            self.assertEqual(len(re.findall(r"(?m) \[[a-z-]+\]$", text)), len(faults))
        first = self.export(FAULTY, "gcc").splitlines()[0]
        place = json.loads(pathlib.Path(FAULTY).read_text(encoding="utf-8"))["violations"][0]["location"]
        self.assertTrue(first.startswith(f'{place["file"]}:{place["line"]}: error: the host waits'), first)


if __name__ == "__main__":
    unittest.main()
