#!/usr/bin/env python3
"""How the measuring goes on when a cell hangs, dies, breaks its context or the time is up; with a program that plays these."""

import json
import os
import stat
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from measure import differences, groups_of, measure_group
from table import as_markdown

PLAYER = f"""#!{sys.executable}
import json, os, signal, sys, time
for argument in sys.argv[1:]:
    index, mode, thread, stream = argument.split(":")
    call = ["fine", "hangs", "dies", "breaks", "fails"][int(index)]
    if call == "hangs":
        time.sleep(60)
    if call == "dies":
        os.kill(os.getpid(), signal.SIGSEGV)
    if call == "fails":
        sys.exit("it cannot be prepared")
    result = 0 if call == "fine" else 700
    print(json.dumps(dict(family="f", call=call, mode=mode, thread=thread, stream=stream, result=result, name="n",
                          status="active", end=result, nodes=1)), flush=True)
    if call == "breaks":
        os._exit(3)
"""


class Measuring(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.cell = os.path.join(folder.name, "cell")
        Path(self.cell).write_text(PLAYER)
        os.chmod(self.cell, stat.S_IRWXU)

    def outcomes(self, *calls, until=None):
        names = ["fine", "hangs", "dies", "breaks", "fails"]
        group = [("f", c, "global", "same", "blocking", f"{names.index(c)}:global:same:blocking") for c in calls]
        measured = measure_group(self.cell, group, 1.0, until or time.monotonic() + 30)
        self.assertEqual([cell["call"] for cell in measured], list(calls))
        return [cell.get("outcome", cell.get("result")) for cell in measured]

    def test_in_order(self):
        self.assertEqual(self.outcomes("fine", "fine"), [0, 0])

    def test_goes_on_after_a_hang_a_death_and_a_broken_context(self):
        self.assertEqual(
            self.outcomes("fine", "hangs", "dies", "fine", "breaks", "fine"),
            [0, "hangs", "died of signal 11", 0, 700, 0],
        )

    def test_what_cannot_be_prepared_says_why(self):
        self.assertEqual(self.outcomes("fails", "fine"), ["broke off: it cannot be prepared", 0])

    def test_out_of_time(self):
        self.assertEqual(self.outcomes("fine", until=time.monotonic() - 1), ["not measured: out of time"])

    def test_every_cell_once_and_first_uses_alone(self):
        groups = list(groups_of([("f", "a"), ("f", "b, not loaded yet")], 12))
        self.assertEqual([len(group) for group in groups], [12] + [1] * 12)
        self.assertEqual(len({cell[5] for group in groups for cell in group}), 24)

    def test_differences_and_page(self):
        cell = dict(family="f", call="c", mode="global", thread="same", stream="blocking", result=0, name="n", status="a", end=0, nodes=1)
        free = cell | {"stream": "nonblocking", "result": 900, "end": 901}
        table = {"machine": {"gpu": "G", "driver": "1"}, "cells": [cell, free]}
        self.assertEqual(list(differences(table, table)), [])
        self.assertEqual(len(list(differences(table, {"cells": [cell | {"nodes": 2}]}))), 1)
        self.assertIn("| `c` | 900, dies 901 / ok, 1 | - |", as_markdown(json.loads(json.dumps(table))))


if __name__ == "__main__":
    unittest.main()
