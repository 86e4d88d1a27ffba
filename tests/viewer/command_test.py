"""`capgate view` from outside: where the page goes, what it holds, what is refused."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

CAPGATE = os.environ["CAPGATE"]
SOURCE = pathlib.Path(os.environ["CAPGATE_SOURCE"])
TRACES = SOURCE / "tests" / "traces"
FAULTY = TRACES / "python" / "deepseek_v4_step.faulty.json"
DATA = re.compile(r'<script type="application/json" id="capgate-data">(.*?)</script>', re.DOTALL)


def data_of(page):
    return json.loads(DATA.search(page)[1])


def count_anew(report):
    """A report's summary must be that of its violations."""
    counted = [v for v in report["violations"] if not v.get("suppressed")]
    causes = [v for v in counted if not v.get("symptom_of")]
    report["summary"] |= {f"{severity}s": sum(v["severity"] == severity for v in causes) for severity in ("error", "warning", "note")} | {
        "symptoms": len(counted) - len(causes),
        "by_rule": {},
    }
    for violation in counted:
        rules = report["summary"]["by_rule"]
        rules[violation["rule"]] = rules.get(violation["rule"], 0) + 1


class View(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = pathlib.Path(folder.name)

    def view(self, *words, stdin=None):
        return subprocess.run([CAPGATE, "view", *map(str, words)], input=stdin, capture_output=True, text=True, cwd=self.here, check=False)

    def page_of(self, *words):
        done = self.view(*words, "--out", "-")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def refused(self, *words):
        done = self.view(*words)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        return done.stderr

    def test_the_page_lies_beside_the_report_and_its_path_is_printed(self):
        report = self.here / "run.json"
        report.write_bytes(FAULTY.read_bytes())
        done = self.view(report)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, f"{self.here / 'run.html'}\n")
        self.assertEqual((self.here / "run.html").read_text(encoding="utf-8"), self.page_of(report))
        self.assertEqual(self.view(report).returncode, 0)  # a page is replaced by the next one
        self.assertEqual(self.view("-", stdin=FAULTY.read_text(encoding="utf-8")).stdout, "capgate-report.html\n")

    def test_nothing_that_is_no_page_is_overwritten(self):
        for name, text in {"notes.html": "<!doctype html><p>mine", "a.cu": "int main() {}"}.items():
            there = self.here / name
            there.write_text(text, encoding="utf-8")
            self.assertIn("is not a page of capgate; refusing to overwrite it", self.refused(FAULTY, "--out", there))
            self.assertEqual(there.read_text(encoding="utf-8"), text)
        report = self.here / "run.json"
        report.write_bytes(FAULTY.read_bytes())
        self.assertIn("would be lost", self.refused(report, "--out", report))
        self.assertIn("would be lost", self.refused(FAULTY, "--baseline", report, "--out", report))
        (self.here / "empty.html").touch()
        self.assertEqual(self.view(FAULTY, "--out", "empty.html").returncode, 0)

    def test_what_cannot_be_read_or_written_is_one_sentence(self):
        self.assertIn("nothing.json", self.refused("nothing.json"))
        self.assertIn("nothing.json", self.refused(FAULTY, "--baseline", "nothing.json"))
        self.assertIn("no/page.html", self.refused(FAULTY, "--out", "no/page.html"))
        (self.here / "cut.json").write_text(FAULTY.read_text(encoding="utf-8")[:2000], encoding="utf-8")
        self.assertIn("cut.json", self.refused("cut.json"))
        self.assertFalse((self.here / "cut.html").exists())

    def test_every_recorded_report_has_a_page_with_all_that_is_in_it(self):
        for path in sorted(TRACES.rglob("*.json")):
            report = json.loads(path.read_text(encoding="utf-8"))
            if report.get("schema") != "capgate-report/1":
                continue
            with self.subTest(report=path.name):
                data = data_of(self.page_of(path))
                self.assertEqual(data["report"]["verdict"], report["verdict"])
                self.assertEqual(data["report"]["captures"], report["captures"])
                self.assertEqual([v["id"] for v in data["report"]["violations"]], [v["id"] for v in report["violations"]])
                rules = {rule["id"] for rule in data["rules"]}
                for shown, written in zip(data["report"]["violations"], report["violations"]):
                    self.assertIn(written["rule"], rules)
                    for stack, frames in zip(shown["stacks"], written["stacks"]):
                        for number, frame in zip(stack["frames"], frames["frames"]):
                            self.assertEqual(data["frames"][number], frame | {"library": data["frames"][number]["library"]})

    def test_frames_of_libraries_are_known_and_the_users_own_are_set_by_the_project(self):
        def library(page, file):
            return {frame["library"] for frame in data_of(page)["frames"] if file in frame["file"]}

        self.assertEqual(library(self.page_of(FAULTY), "torch/nn/modules/module.py"), {True})
        self.assertEqual(library(self.page_of(FAULTY), "transformers/masking_utils.py"), {False})
        (self.here / ".capgate.toml").write_text('[frames]\nnot_user = ["transformers/*"]\n', encoding="utf-8")
        self.assertEqual(library(self.page_of(FAULTY), "transformers/masking_utils.py"), {True})

    def test_a_baseline_says_what_is_new_fixed_and_known(self):
        report = json.loads(FAULTY.read_text(encoding="utf-8"))
        older = json.loads(FAULTY.read_text(encoding="utf-8"))
        gone = older["violations"][0] | {"id": "0123456789abcdef"}
        older["violations"] = [gone, *older["violations"][2:]]
        for violation in older["violations"]:
            if violation.get("symptom_of") == report["violations"][0]["id"]:
                violation["symptom_of"] = gone["id"]
        count_anew(older)
        path = self.here / "older.json"
        path.write_text(json.dumps(older), encoding="utf-8")
        data = data_of(self.page_of(FAULTY, "--baseline", path))
        self.assertEqual(data["baseline"]["file"], str(path))
        self.assertEqual([v["id"] for v in data["baseline"]["fixed"]], [gone["id"]])
        states = {v["id"]: v["baseline"] for v in data["report"]["violations"]}
        first_two = [v["id"] for v in report["violations"][:2]]
        self.assertEqual({id for id, state in states.items() if state == "new"}, set(first_two))

    def test_no_text_of_a_report_ends_the_data_or_reaches_the_page_raw(self):
        report = json.loads(FAULTY.read_text(encoding="utf-8"))
        evil = "</script><script>alert(1)</script><!--&amp;\u202e\u0007"
        report["violations"][0]["message"] = evil
        report["violations"][0]["details"] = {evil: "x" * 100_000}
        path = self.here / "evil.json"
        path.write_text(json.dumps(report), encoding="utf-8")
        page = self.page_of(path)
        self.assertEqual(page.count("<script"), 2)
        self.assertNotIn("alert(1)</script>", page)
        shown = data_of(page)["report"]["violations"][0]
        self.assertEqual(shown["message"], "</script><script>alert(1)</script><!--&amp;??")
        ((key, value),) = shown["details"].items()
        self.assertEqual(key, "</script><script>alert(1)</script><!--&amp;??")
        self.assertEqual(value, "x" * 4000 + "… (96,000 bytes more)")


if __name__ == "__main__":
    unittest.main()
