#!/usr/bin/env python3
"""Writes docs/calls.md, the page of the calls that an audit watches, from detector/trace/families.def.

    families_page.py PAGE            writes it
    families_page.py --check PAGE    exits with 1 when it is not as it would be written
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROW = re.compile(r'^CAPGATE_FAMILY\((\w+), (\w+), (.*?), "(.*)"\)$', re.M)
WATCHED = {"always": "from the start", "in_captures": "while a capture is open", "never": "no"}
DOES = {
    "kWait": "the host waits",
    "kPoll": "the host asks whether work is done",
    "kCopy": "copies or sets memory",
    "kMemory": "memory comes, goes or is mapped",
    "kLoad": "code comes or goes",
    "kWork": "puts work on a stream",
    "kUnsafe": "forbidden to other threads while a capture in global mode is open",
}
HEAD = """# The calls that an audit watches

Each call of the CUDA runtime and driver belongs to a family. The preloaded library decides by its family whether a call
is watched, and the rules what it does. This page is written by `scripts/generate/calls` from
`detector/trace/families.def`; a call that the toolkit adds gets its family in `detector/preload/table/gen_families.py`.

A call that is watched from the start need not be recorded each time it is made: `detector/preload/README.md` has a table of what is
recorded when, and what is only counted.

| family | calls | watched | it |
| --- | --- | --- | --- |
"""


def page():
    lines = []
    for name, watched, traits, calls in ROW.findall((HERE / "families.def").read_text()):
        does = ", ".join(DOES[trait] for trait in traits.split(" | ") if trait in DOES)
        lines.append(f"| `{name}` | {calls} | {WATCHED[watched]} | {does} |\n")
    return HEAD + "".join(lines)


def main():
    check = sys.argv[1] == "--check"
    path = pathlib.Path(sys.argv[-1])
    if not check:
        path.write_text(page())
    elif not path.exists() or path.read_text() != page():
        sys.exit(f"{path} is not as detector/trace/families.def has it: run scripts/generate/calls")


main()
