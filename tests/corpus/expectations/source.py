"""Expectations stand in a program's source as comments, on the line they speak of, so that they move with the code."""

import re
from dataclasses import dataclass, field
from pathlib import Path

SEVERITIES = ("error", "warning", "note")
VERDICTS = ("pass", "fail", "inconclusive")
VARIANTS = ("faulty", "clean", "healthy")
MOST_NOTES_OF_A_HEALTHY_PROGRAM = 5

_EXPECT = re.compile(r"(?://|#)\s*EXPECT(-MAY)?:\s*(.*?)\s*$")
_ELSEWHERE = re.compile(r"(?://|#)\s*EXPECT-ELSEWHERE:\s*(.*?)\s*$")
_VERDICT = re.compile(r"(?://|#)\s*EXPECT-VERDICT:\s*(.*?)\s*$")
_OPTION = re.compile(r"(?://|#)\s*CORPUS-([A-Z]+):\s*(.*?)\s*$")


class BadExpectation(Exception):
    """A comment that says something no report could be held against."""


@dataclass
class Expectation:
    rules: list
    severities: list
    beside: list  # rules tolerated at the same place
    function: str  # "" of an EXPECT-MAY: any
    file: str
    first_line: int  # of the statement; a compiler may give a call any of its statement's lines
    last_line: int
    required: bool

    def as_json(self):
        return {
            "rules": self.rules,
            "severities": self.severities,
            "beside": self.beside,
            "function": self.function,
            "file": self.file,
            "line": self.first_line,
            "last_line": self.last_line,
            "required": self.required,
        }


@dataclass
class Expected:
    file: str
    variant: str
    verdicts: list
    findings: list = field(default_factory=list)
    most_notes: int = None
    elsewhere: list = field(default_factory=list)  # (file glob, number of lines with errors at the least)

    def as_json(self):
        return {
            "file": self.file,
            "variant": self.variant,
            "verdicts": self.verdicts,
            "most_notes": self.most_notes,
            "elsewhere": self.elsewhere,
            "findings": [finding.as_json() for finding in self.findings],
        }


def read_options(path):
    """The CORPUS-… lines: {"BUILD": ["static"], "AUDIT": ["--region", "step"]}."""
    options = {}
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        match = _OPTION.match(line)
        if match:
            options.setdefault(match[1], []).extend(match[2].split())
    return options


def read_expected(path, variant):
    """What a report of this variant of the program has to look like."""
    if variant not in VARIANTS:
        raise BadExpectation(f'{path}: no variant "{variant}", only {", ".join(VARIANTS)}')
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    if variant != "faulty":
        most = MOST_NOTES_OF_A_HEALTHY_PROGRAM if variant == "healthy" else None
        return Expected(str(path), variant, ["pass"], [], most)

    findings, verdicts, elsewhere = [], [], []
    for number, line in enumerate(lines, start=1):
        verdict = _VERDICT.search(line)
        if verdict:
            verdicts += _words(verdict[1].split(), VERDICTS, f"{path}:{number}: verdict")
            continue
        match = _ELSEWHERE.search(line)
        if match:
            glob, least = match[1].split()
            elsewhere.append((glob, int(least)))
            continue
        match = _EXPECT.search(line)
        if match:
            findings.append(_expectation(path, lines, number, match))
    if not verdicts:
        fails = elsewhere or any(f.required and f.severities == ["error"] for f in findings)
        verdicts = ["fail" if fails else "pass"]
    if not elsewhere and not any(f.required for f in findings) and verdicts == ["pass"]:
        raise BadExpectation(f"{path}: a faulty program that expects nothing")
    return Expected(str(path), variant, verdicts, findings, None, elsewhere)


def _expectation(path, lines, number, match):
    where = f"{path}:{number}"
    may, words = match[1] is not None, match[2].split()
    beside = []
    if not may and len(words) == 5 and words[3] == "may":
        beside, words = words[4].split("|"), words[:3]
    if len(words) != (2 if may else 3):
        raise BadExpectation(f"{where}: wanted are RULE SEVERITY FUNCTION [may RULE], or RULE SEVERITY after EXPECT-MAY")
    rules = words[0].split("|")
    for rule in rules + beside:
        if not re.fullmatch(r"[a-z]+(-[a-z]+)*", rule):
            raise BadExpectation(f'{where}: "{rule}" is no rule id')
    severities = _words(words[1].split("|"), SEVERITIES, f"{where}: severity")
    first, last = _statement(path, lines, number, match.start())
    return Expectation(rules, severities, beside, "" if may else words[2], str(path), first, last, not may)


def _words(words, allowed, what):
    for word in words:
        if word not in allowed:
            raise BadExpectation(f'{what} "{word}" is none of {", ".join(allowed)}')
    return words


def _code(line):
    """The line without its trailing comment; near enough for the sources of the corpus."""
    return re.split(r"(?:^|\s)(?://|#\s)", line, maxsplit=1)[0].strip()


def _statement(path, lines, number, comment_start):
    """The lines of the statement that a comment at its end, or alone above it, speaks of."""
    index = number - 1
    if not lines[index][:comment_start].strip():
        index += 1
        while index < len(lines) and not _code(lines[index]):
            index += 1
        if index == len(lines):
            raise BadExpectation(f"{path}:{number}: no statement follows")
    first, depth = index, 0
    python = str(path).endswith(".py")
    while index < len(lines):
        code = _code(lines[index])
        depth += sum(code.count(c) for c in "([") - sum(code.count(c) for c in ")]")
        if depth <= 0 and (python or code.endswith((";", "{", "}", ":"))):
            break
        index += 1
    return first + 1, min(index, len(lines) - 1) + 1
