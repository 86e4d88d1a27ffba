"""Lints the folder suppressed/ with the built program, comments that allow faults included, and compares what is not
suppressed with the labels and the whole text with its golden report.

    CAPGATE=build/bin/capgate suppressed.py        CAPGATE_UPDATE_GOLDEN=1 writes the golden report anew
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

CORPUS = Path(__file__).resolve().parent
FOLDER = CORPUS / "suppressed"
GOLDEN = CORPUS / "golden/suppressed.comments.txt"


def labels():
    """(file, line, rule, severity) of every EXPECT, (file, line, rule) of every CLEAN."""
    expected, clean = Counter(), set()
    for path in sorted(FOLDER.iterdir()):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if found := re.search(r"// EXPECT:(.*?)(?=//|$)", line):
                for word in re.split(r"[ ,]+", found[1].strip()):
                    rule, _, severity = word.partition(":")
                    expected[path.name, number, rule, severity or "error"] += 1
            if found := re.search(r"// CLEAN:(.*?)(?=//|$)", line):
                clean |= {(path.name, number, word.strip()) for word in found[1].split(",")}
    return expected, clean


def main():
    sources = [path.name for path in sorted(FOLDER.glob("*.cu"))]
    with tempfile.TemporaryDirectory() as folder:
        build = Path(folder)
        include = CORPUS.parent.parent / "detector/include"
        # The whole program: what allows nothing is told only of a run that saw every source.
        commands = [{"directory": str(FOLDER), "file": name, "arguments": ["nvcc", f"-I{include}", "-c", name]} for name in sources]
        (build / "compile_commands.json").write_text(json.dumps(commands))
        done = subprocess.run(
            [os.environ["CAPGATE"], "lint", "-p", folder, "--root", str(FOLDER), "--no-cache", "--out", str(build / "report.json")],
            capture_output=True,
            text=True,
            timeout=300,
            cwd=FOLDER,
            check=False,
        )
        if done.returncode != 1:
            print(f"exit code {done.returncode} instead of 1\n{done.stdout}{done.stderr}")
            return 1
        report = json.loads((build / "report.json").read_text())
        text = done.stdout

    expected, clean = labels()
    found = Counter(
        (Path(v["location"]["file"]).name, v["location"]["line"], v["rule"], v["severity"])
        for v in report["violations"]
        if not v.get("suppressed")
    )
    faults = [f"NOT FOUND    {label}" for label in expected - found]
    faults += [f"NOT LABELLED {label}" for label in found - expected]
    faults += [f"NOT CLEAN    {label}" for label in found if label[:3] in clean]
    if os.environ.get("CAPGATE_UPDATE_GOLDEN"):
        GOLDEN.write_text(text)
    elif not GOLDEN.is_file() or GOLDEN.read_text() != text:
        faults.append(f"differs from {GOLDEN} (CAPGATE_UPDATE_GOLDEN=1 writes it anew):\n{text}")
    print("\n".join(faults))
    print(f"{sum(expected.values())} labels, {len(clean)} hard negatives: {'FAILED' if faults else 'ok'}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
