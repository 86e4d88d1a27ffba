#!/usr/bin/env python3
"""capgate for a machine without a GPU: `audit` runs the program, and then judges the recorded trace that the program named in the
file $RECORDED_AS. A program that names none is audited as it is. All else goes to the real program."""

import os
import pathlib
import subprocess
import sys

REAL = os.environ["REAL_CAPGATE"]
TRACES = pathlib.Path(os.environ["CAPGATE_SOURCE"]) / "tests/traces"


def main():
    words = sys.argv[1:]
    if words[0] != "audit":
        os.execv(REAL, [REAL, *words])
    named = pathlib.Path(os.environ["RECORDED_AS"])
    named.unlink(missing_ok=True)
    begin = words.index("--")
    program = subprocess.run(words[begin + 1 :])
    if not named.exists():
        return subprocess.run([REAL, *words]).returncode
    if named.read_text() == "nothing":  # the audit itself fails
        print("capgate: cannot write the report", file=sys.stderr)
        return 2
    assert program.returncode == 0, "the inner run ends with 0 whatever the test did"
    with open(os.environ["AUDITED"], "a", encoding="utf-8") as log:
        log.write(" ".join(words[:begin]) + "\n")
    trace = (TRACES / named.read_text()).with_suffix(".cgtrace")
    if not trace.exists():  # a name like x.faulty has a suffix already
        trace = TRACES / (named.read_text() + ".cgtrace")
    return subprocess.run([REAL, "analyze", trace, "--out", words[words.index("--out") + 1]]).returncode


sys.exit(main())
