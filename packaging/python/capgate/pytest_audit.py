"""The half of the pytest plugin that stays outside: starts an audit per test, and turns report and results into one result."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import pytest

import capgate
from capgate.pytest_plugin import marked
from capgate.verdict import judged

# Of the outer run alone: what selects tests, draws the screen, or writes a file that the inner runs would overwrite.
OUTER = {
    "capgate": True, "collectonly": False, "deselect": None, "keyword": "", "markexpr": "", "lf": False, "failedfirst": False,
    "newfirst": False, "stepwise": False, "stepwise_skip": False, "cacheclear": False, "cacheshow": None, "xmlpath": None,
    "htmlpath": None, "resultlog": None, "report_log": None, "usepdb": False, "trace": False, "numprocesses": None, "dist": "no",
    "tx": [], "maxfail": 0, "showfixtures": False, "show_fixtures_per_test": False, "setupplan": False, "setuponly": False,
    "no_cov": True, "cov_source": None, "pastebin": None, "durations": None,
}  # fmt: skip


def plain(value):
    """Whether JSON gives it back as it is."""
    if isinstance(value, list):
        return all(map(plain, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and plain(entry) for key, entry in value.items())
    return value is None or isinstance(value, (str, int, float, bool))


class Auditor:
    def __init__(self, config):
        self.config = config
        self.program = capgate.program()
        if not os.access(self.program, os.X_OK):
            raise pytest.UsageError(f"--capgate: {self.program} cannot be run; install capgate again, or correct $CAPGATE")
        self.audited = self.captured = 0
        self.why_not = {}  # reason -> number of tests that used CUDA or could not, and showed nothing

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items):
        for item in items:  # so that a mistake in a marker costs no run
            marked(item)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item):
        asked = marked(item)
        if asked["skip"]:
            return None
        hook = item.ihook
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        with tempfile.TemporaryDirectory(prefix="capgate-pytest-") as folder:
            for report in self.reports(item, asked, folder):
                hook.pytest_runtest_logreport(report=report)
        hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def reports(self, item, asked, folder):
        done = self.audit(item, asked, folder)
        reports = [self.config.hook.pytest_report_from_serializable(config=self.config, data=data) for data in results(folder)]
        call = next((report for report in reports if report.when == "call"), None)
        if not any(report.when == "teardown" for report in reports) and not any(report.failed for report in reports):
            reports.append(self.broken(item, "the process of this test ended before the test did", done.stdout))
            return reports
        report = read_report(folder)
        outcome = judged(report, asked["expect"], completed=call is not None and call.passed)
        self.audited += 1
        self.captured += outcome.captured
        if outcome.why_not:
            self.why_not[outcome.why_not] = self.why_not.get(outcome.why_not, 0) + 1
        if outcome.complaint and call is not None and not call.skipped:
            text = f"capgate: {outcome.complaint}"
            if report is None:
                text += "\n" + done.stdout.rstrip()
            elif report["verdict"] != "pass":
                text += "\n" + self.lines(self.keep(item, folder))
            if call.failed:
                call.sections.append(("capgate", text))
            else:
                call.outcome, call.longrepr = "failed", text
                if hasattr(call, "wasxfail"):
                    del call.wasxfail
        return reports

    def audit(self, item, asked, folder):
        options = {name: value for name, value in vars(self.config.option).items() if plain(value)}
        options.update({name: value for name, value in OUTER.items() if name in options})
        job = {
            "options": options, "file": str(item.fspath), "nodeid": item.nodeid, "results": os.path.join(folder, "results"),
            "rootdir": str(self.config.rootdir), "inifile": str(self.config.inifile) if self.config.inifile else None,
        }  # fmt: skip
        file = os.path.join(folder, "job.json")
        with open(file, "w", encoding="utf-8") as out:
            json.dump(job, out)
        regions = [word for glob in asked["region"] for word in ("--region", glob)]
        return subprocess.run(
            [self.program, "audit", "--out", os.path.join(folder, "report.json"), *regions, "--",
             sys.executable, "-m", "capgate.pytest_child", file],
            cwd=str(self.config.invocation_params.dir), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace",
        )  # fmt: skip

    def keep(self, item, folder):
        place = os.path.join(str(self.config.invocation_params.dir), self.config.getoption("capgate_reports"))
        os.makedirs(place, exist_ok=True)
        kept = os.path.join(place, re.sub(r"[^\w.-]+", "-", item.nodeid).strip("-")[:150] + ".json")
        shutil.copyfile(os.path.join(folder, "report.json"), kept)
        return os.path.relpath(kept, str(self.config.invocation_params.dir))

    def lines(self, report):
        """Those that the log of a CI job would have."""
        done = subprocess.run(
            [self.program, "--color", "never", "gate", "--allow-eager", report], cwd=str(self.config.invocation_params.dir),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        )  # fmt: skip
        return done.stdout.rstrip()

    def broken(self, item, sentence, output):
        return pytest.TestReport(
            nodeid=item.nodeid, location=item.location, keywords={name: 1 for name in item.keywords}, outcome="failed",
            longrepr=f"capgate: {sentence}\n{output.rstrip()}", when="call",
        )  # fmt: skip

    def pytest_terminal_summary(self, terminalreporter):
        if not self.audited and not self.why_not:
            return
        line = f"capgate: {self.audited} tests audited, {self.captured} of them captured or marked a step"
        for why, count in sorted(self.why_not.items()):
            line += f"; {count} not judged: {why}"
        terminalreporter.write_line(line)


def results(folder):
    try:
        with open(os.path.join(folder, "results"), encoding="utf-8") as lines:
            found = [json.loads(line) for line in lines if line.endswith("\n")]
    except FileNotFoundError:
        return []
    for data in found:  # JSON knows no tuples, and pytest wants some
        for name in ("longrepr", "location"):
            if isinstance(data.get(name), list):
                data[name] = tuple(data[name])
        data["sections"] = [tuple(section) for section in data.get("sections", [])]
    return found


def read_report(folder):
    """None where the audit wrote none."""
    try:
        with open(os.path.join(folder, "report.json"), encoding="utf-8") as file:
            return json.load(file)
    except (FileNotFoundError, ValueError):
        return None
