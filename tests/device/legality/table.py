#!/usr/bin/env python3
"""The measured legality table as a page: table.py legality.json > legality.md"""

import json
import sys
from pathlib import Path

COLUMNS = [(thread, mode) for thread in ("same", "other") for mode in ("global", "thread_local", "relaxed")]


def outcome(cell):
    """`ok, 2` (nodes in the graph), `900, dies 901`, `907, lives, 1`, `hangs`."""
    if cell is None:
        return "-"
    if "outcome" in cell:
        return cell["outcome"]
    call = "ok" if cell["result"] == 0 else str(cell["result"])
    if cell["end"] == 0:
        return f"{call}, {cell['nodes']}" if call == "ok" else f"{call}, lives, {cell['nodes']}"
    return f"{call}, dies {cell['end']}" if cell["end"] > 0 else f"{call}, gone"


def as_markdown(table):
    cells = {(c["call"], c["thread"], c["mode"], c["stream"]): c for c in table["cells"]}
    families = {}
    for cell in table["cells"]:
        families.setdefault(cell["family"], {})[cell["call"]] = None
    machine = table["machine"]
    lines = [
        "# What CUDA does with a call while a capture is open",
        "",
        f"Measured on {machine['gpu']}, driver {machine['driver']}, by `tests/device/legality`; {len(cells)} cells.",
        "",
        "One kernel is captured, then the call is made from the capturing or another thread, then the capture is ended. `ok, N`: the call",
        "succeeds and the graph has N nodes, the kernel included, so that `ok, 1` means that the call left nothing in the graph. `900, dies",
        "901`: the call fails with 900 and the end of the capture with 901. `lives`: the call fails and the capture goes on. A second value",
        "after `/` is that of a blocking capture stream, where it differs.",
    ]
    for family, calls in families.items():
        lines += ["", f"## {family.capitalize()}", ""]
        lines.append("| call | " + " | ".join(f"{thread}, {mode.replace('_', '-')}" for thread, mode in COLUMNS) + " |")
        lines.append("| --- |" + " --- |" * len(COLUMNS))
        for call in calls:
            row = []
            for thread, mode in COLUMNS:
                free, blocking = (outcome(cells.get((call, thread, mode, s))) for s in ("nonblocking", "blocking"))
                row.append(free if free == blocking else f"{free} / {blocking}")
            lines.append(f"| `{call}` | " + " | ".join(row) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(as_markdown(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))), end="")
