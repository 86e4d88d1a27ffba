#!/usr/bin/env python3
"""The table for two devices as a page: table.py two-devices.json > two-devices.md"""

import json
import sys
from pathlib import Path

MODES = ("global", "thread_local", "relaxed")


def call(cell):
    """`ok, 2` (nodes in the graph), `900, dies 901`, `400, lives, 1`."""
    result = "ok" if cell["result"] == 0 else str(cell["result"])
    if cell["end"] == 0:
        return f"{result}, {cell['nodes']}" if result == "ok" else f"{result}, lives, {cell['nodes']}"
    return f"{result}, dies {cell['end']}"


def work(cell):
    """Where the case's work was done; empty of a case that does none."""
    if not cell["works"]:
        return ""
    if cell["at_once"]:
        return "at once and in the replay" if cell["in_replay"] else "at once, in no replay"
    if cell["in_replay"]:
        return "in the replay"
    return f"nowhere, the replay {cell['launch']}" if cell["launch"] else "nowhere"


def outcome(cell):
    if cell is None:
        return "-"
    if "outcome" in cell:
        return cell["outcome"]
    return ", ".join(part for part in (call(cell), work(cell)) if part)


def row_of(cells, name, columns):
    return [outcome(cells.get((name, thread, mode))) for thread, mode in columns]


def as_markdown(table):
    cells = {(c["call"], c["thread"], c["mode"]): c for c in table["cells"]}
    families = {}
    for cell in table["cells"]:
        families.setdefault(cell["family"], {}).setdefault(cell["call"], set()).add(cell["thread"])
    machine = table["machine"]
    lines = [
        "# Two devices",
        "",
        f"Measured on {machine['gpus']} × {machine['gpu']}, driver {machine['driver']}, by `tests/device/two_devices`; {len(cells)} cells.",
        "",
        "A stream of device 0 is captured: a kernel, then what the row says, then the end of the capture; then the graph is launched once,",
        "with other data. Device 0 is current unless the row or its heading says otherwise, peer access is on, no stream is blocking.",
        "",
        "`ok, N`: the calls succeed and the graph has N nodes, the first kernel included. `400, lives, N`: the call fails with 400 and the",
        "capture goes on. `900, dies 901`: the end of the capture fails, too. Then, of a row that does work, where it was done: `in the",
        "replay` is right; `at once, in no replay` leaves what the capture computed for ever; `nowhere` was never done.",
    ]
    for family, calls in families.items():
        threads = ["same"] + (["other"] if any("other" in seen for seen in calls.values()) else [])
        columns = [(thread, mode) for thread in threads for mode in MODES]
        heads = [f"{thread}, {mode.replace('_', '-')}" if len(threads) > 1 else mode.replace("_", "-") for thread, mode in columns]
        lines += ["", f"## {family[0].upper()}{family[1:]}", ""]
        lines += ["| what | " + " | ".join(heads) + " |", "| --- |" + " --- |" * len(columns)]
        lines += [f"| {name} | " + " | ".join(row_of(cells, name, columns)) + " |" for name in calls]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(as_markdown(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))), end="")
