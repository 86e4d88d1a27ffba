"""A report against what its program's source expects: every finding there, at its place, and nothing else but notes."""

import re
from fnmatch import fnmatch

from .source import Expected


def function_name(text):
    """`ns::Class<int>::run(int) const` is `run`; a Python `Class.run` too. Destructors keep their tilde."""
    text = text.replace("(anonymous namespace)::", "")
    text = re.sub(r"\[[^]]*\]|<(?!locals>|lambda>)[^<>]*>", "", text)
    text = re.sub(r"<[^<>]*>", "", text) if "<locals>" not in text and "<lambda>" not in text else text
    text = text.split("(")[0].strip()
    return re.split(r"::|\.", text.split(" ")[-1])[-1]


def same_file(reported, source):
    """Reports give paths from a repository's root; a bundle on another machine may have another one."""
    parts, wanted = reported.split("/"), str(source).split("/")
    return parts[-2:] == wanted[-2:] if len(parts) > 1 else parts[-1] == wanted[-1]


def _tolerated(violation, finding):
    """In the finding's lines, of one of its rules or of one that it tolerates beside them."""
    location = violation["location"]
    return (
        violation["rule"] in finding.rules + finding.beside
        and violation["severity"] in finding.severities
        and same_file(location.get("file", ""), finding.file)
        and finding.first_line <= location.get("line", 0) <= finding.last_line
    )


def _found(violation, finding):
    return (
        violation["rule"] in finding.rules
        and _tolerated(violation, finding)
        and function_name(violation["location"].get("function", "")) == function_name(finding.function)
    )


def _text(violation):
    location = violation["location"]
    place = f'{location.get("file", "?")}:{location.get("line", 0)} {location.get("function", "?")}'
    return f'{violation["severity"]} {violation["rule"]} {place}: {violation["message"]}'


def judge(report: dict, expected: Expected):
    """The differences, one sentence each; none means that the report is as it should be."""
    complaints = []
    violations = [v for v in report["violations"] if v.get("suppressed") is None]
    for finding in expected.findings:
        if finding.required and not any(_found(v, finding) for v in violations):
            complaints.append(
                f'missing: {"|".join(finding.severities)} {"|".join(finding.rules)} '
                f"{finding.file}:{finding.first_line} {finding.function}"
            )
    for glob, least in expected.elsewhere:
        lines = {
            (v["location"]["file"], v["location"]["line"])
            for v in violations
            if v["severity"] == "error" and fnmatch(v["location"]["file"], glob)
        }
        if len(lines) < least:
            complaints.append(f"errors on {len(lines)} lines of {glob}, at least {least} expected")
    for violation in violations:
        if violation["severity"] == "note":
            continue
        if any(fnmatch(violation["location"]["file"], glob) for glob, _ in expected.elsewhere):
            continue
        if not any(_tolerated(violation, finding) for finding in expected.findings):
            complaints.append(f"unexpected: {_text(violation)}")
    if report["verdict"] not in expected.verdicts:
        reasons = "; ".join(reason["text"] for reason in report.get("reasons", []))
        complaints.append(f'verdict {report["verdict"]}, expected {" or ".join(expected.verdicts)}' + (f" ({reasons})" if reasons else ""))
    run = report.get("run") or {}
    # A program that did not see what it is meant to see says so with its exit code, whatever else was found.
    if (run.get("exit_code") or run.get("signal")) and "inconclusive" not in expected.verdicts:
        how = f'signal {run["signal"]}' if run.get("signal") else f'exit code {run["exit_code"]}'
        complaints.append(f"the program itself ended with {how}: it did not see what it is meant to")
    notes = [v for v in violations if v["severity"] == "note"]
    if expected.most_notes is not None and len(notes) > expected.most_notes:
        complaints.append(f"{len(notes)} notes, at most {expected.most_notes}: " + "; ".join(_text(v) for v in notes))
    return complaints
