"""What engine/cuda/step/planted_fault.h holds: the functions of the planted faults, and the marked lines of each."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
HEADER = "engine/cuda/step/planted_fault.h"


@dataclass(frozen=True)
class Mark:
    rule: str
    line: int
    seen_by: str  # "both", "lint" or "audit"


def planted_faults(root=ROOT):
    """{function: [Mark]} in the order of the file."""
    faults, function = {}, None
    for number, text in enumerate((root / HEADER).read_text(encoding="utf-8").splitlines(), 1):
        if begin := re.match(r"inline void (\w+)\(const Step&", text):
            function = begin[1]
            faults[function] = []
        if mark := re.search(r"// PLANTED(?:\((lint|audit)\))? ([a-z-]+)$", text):
            faults[function].append(Mark(mark[2], number, mark[1] or "both"))
    return faults


def lines_of(violation):
    """(file, line) of every place that a violation names: its own, and the frames and the flow that lead to it."""
    places = [violation["location"], *violation.get("flow", [])]
    for stack in violation.get("stacks", []):
        places += stack["frames"]
    return {(place.get("file") or "", place.get("line")) for place in places}


def sees(report, mark):
    """Whether the report has an error of the mark's rule that names its line."""
    return any(
        violation["rule"] == mark.rule and violation["severity"] == "error" and not violation.get("suppressed")
        and any(file.endswith(HEADER) and line == mark.line for file, line in lines_of(violation))
        for violation in report["violations"]
    )  # fmt: skip


def told(report):
    """The errors of a report, for a message."""
    return [
        f'{v["rule"]} {v["location"].get("file")}:{v["location"].get("line")}' for v in report["violations"] if v["severity"] == "error"
    ]
