"""Lints the folder read_backs/ and compares which finding is said to follow from which with the labels.

    CAPGATE=build/bin/capgate read_backs.py

CAUSE(x)    the line has a finding that SYMPTOM(x) lines follow from, and counts by itself
SYMPTOM(x)  every finding of the line follows from the one at CAUSE(x)
ALONE       the line's finding follows from none, and none from it
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

CORPUS = Path(__file__).resolve().parent
FOLDER = CORPUS / "read_backs"


def labels():
    """Causes by name, symptoms as {line: name}, and the lines that stand alone, a file's lines as (file, number)."""
    causes, symptoms, alone = {}, {}, set()
    for path in sorted(FOLDER.glob("*.cu")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            place = (path.name, number)
            if found := re.search(r"// CAUSE\((\w+)\)", line):
                causes[found[1]] = place
            if found := re.search(r"// SYMPTOM\((\w+)\)", line):
                symptoms[place] = found[1]
            if line.rstrip().endswith("// ALONE"):
                alone.add(place)
    return causes, symptoms, alone


def lint():
    sources = [path.name for path in sorted(FOLDER.glob("*.cu"))]
    with tempfile.TemporaryDirectory() as folder:
        include = CORPUS.parent.parent / "detector/include"
        commands = [{"directory": str(FOLDER), "file": name, "arguments": ["nvcc", f"-I{include}", "-c", name]} for name in sources]
        (Path(folder) / "compile_commands.json").write_text(json.dumps(commands))
        out = Path(folder) / "report.json"
        done = subprocess.run(
            [os.environ["CAPGATE"], "lint", "-p", folder, "--root", str(FOLDER), "--no-cache", "--out", str(out)],
            capture_output=True,
            text=True,
            timeout=300,
            cwd=FOLDER,
            check=False,
        )
        if done.returncode != 1:
            sys.exit(f"exit code {done.returncode} instead of 1\n{done.stdout}{done.stderr}")
        return json.loads(out.read_text())


def main():
    causes, symptoms, alone = labels()
    report = lint()
    place = {v["id"]: (Path(v["location"]["file"]).name, v["location"]["line"]) for v in report["violations"]}
    faults, found = [], set()
    for violation in report["violations"]:
        here, cause = place[violation["id"]], violation.get("symptom_of")
        expected = causes[symptoms[here]] if here in symptoms else None
        if (place[cause] if cause else None) != expected:
            faults.append(f"{here}: {violation['rule']} follows from {place.get(cause)} instead of {expected}")
        if cause and place[cause] in alone:
            faults.append(f"{here}: follows from a line that stands alone")
        found.add(here)
    faults += [
        f"{here}: labelled, and nothing was found there"
        for here in sorted(set(causes.values()) | set(symptoms) | alone)
        if here not in found
    ]
    counted = len(report["violations"]) - len(symptoms)
    if report["summary"]["errors"] != counted or report["summary"]["symptoms"] != len(symptoms):
        faults.append(f"the summary says {report['summary']}; {counted} errors and {len(symptoms)} symptoms are labelled")
    print("\n".join(faults) or f"{len(causes)} causes with {len(symptoms)} symptoms")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
