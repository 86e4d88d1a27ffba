#!/usr/bin/env python3
"""The table for two devices: every cell once, what its outcomes are called, and how many GPUs there are; with programs that play
the measured one and the driver's tool."""

import json
import os
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from measure import HERE, as_markdown, groups_of, gpus

CELL = f"""#!{sys.executable}
import json, os, sys
if sys.argv[1] == "--list":
    print("work\\tescapes\\tsame")
    print("calls\\twaits\\tboth")
    sys.exit()
for argument in sys.argv[1:]:
    index, mode, thread, stream = argument.split(":")
    escapes = index == "0"
    print(json.dumps(dict(family="work" if escapes else "calls", call="escapes" if escapes else "waits", mode=mode, thread=thread,
                          stream=stream, result=0 if escapes else 900, name="n", status="active", end=0 if escapes else 901, nodes=1,
                          works=escapes, at_once=True, in_replay=False, launch=0)), flush=True)
"""
TOOL = """#!/bin/sh
case "$1" in
  -L) for i in $(seq 1 "$PLAYED_GPUS"); do echo "GPU $i: one"; done ;;
  *) echo "Played GPU, 580.0" ;;
esac
"""


class TwoDevices(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name, text in (("cell", CELL), ("nvidia-smi", TOOL)):
            (self.folder / name).write_text(text)
            os.chmod(self.folder / name, stat.S_IRWXU)

    def measure(self, count, *options, **environment):
        env = os.environ | {"PATH": f"{self.folder}:{os.environ['PATH']}", "PLAYED_GPUS": str(count)} | environment
        env.pop("CUDA_VISIBLE_DEVICES", None) if "CUDA_VISIBLE_DEVICES" not in environment else None
        return subprocess.run(
            [sys.executable, "-B", HERE / "measure.py", "--cell", self.folder / "cell", *options], capture_output=True, text=True, env=env
        )

    def test_one_gpu_is_skipped_by_name(self):
        for count, visible in ((0, None), (1, None), (2, "0"), (2, ""), (4, "1,-1,2"), (2, "0,7")):
            environment = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
            done = self.measure(count, **environment)
            self.assertEqual((done.returncode, done.stdout), (77, "skipped: needs two GPUs\n"), (count, visible, done.stderr))

    def test_measured_written_and_compared(self):
        done = self.measure(2, "--out", self.folder / "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        table = json.loads((self.folder / "out/two-devices.json").read_text())
        self.assertEqual(table["machine"], {"gpu": "Played GPU", "driver": "580.0", "gpus": 2})
        self.assertEqual(len(table["cells"]), 3 + 6)
        page = (self.folder / "out/two-devices.md").read_text()
        self.assertEqual(page, as_markdown(table))
        self.assertIn("| escapes | ok, 1, at once, in no replay |", page)
        self.assertIn("| waits | 900, dies 901 |", page)
        self.assertEqual(self.measure(2, "--against", self.folder / "out/two-devices.json").returncode, 0)
        table["cells"][0]["in_replay"] = True
        (self.folder / "out/two-devices.json").write_text(json.dumps(table))
        self.assertEqual(self.measure(2, "--against", self.folder / "out/two-devices.json").returncode, 1)
        self.assertEqual(self.measure(2, "--against", self.folder / "none.json").returncode, 77)

    def test_every_cell_once(self):
        groups = groups_of([["f", "a", "same"], ["f", "b", "both"]], 4)
        self.assertEqual([len(group) for group in groups], [4, 4, 1])
        self.assertEqual(len({cell[5] for group in groups for cell in group}), 9)

    def test_what_outcomes_are_called(self):
        cell = dict(family="f", call="c", mode="global", thread="same", stream="nonblocking", result=0, name="n", status="a", end=0,
                    nodes=2, works=True, at_once=False, in_replay=True, launch=0)  # fmt: skip
        for change, text in (
            ({}, "ok, 2, in the replay"),
            ({"works": False}, "ok, 2"),
            ({"at_once": True}, "ok, 2, at once and in the replay"),
            ({"result": 400, "nodes": 1, "in_replay": False}, "400, lives, 1, nowhere"),
            ({"result": 900, "end": 901, "in_replay": False}, "900, dies 901, nowhere"),
            ({"in_replay": False, "launch": 700}, "ok, 2, nowhere, the replay 700"),
        ):
            page = as_markdown({"machine": {"gpu": "G", "driver": "1", "gpus": 2}, "cells": [cell | change]})
            self.assertIn(f"| c | {text} | - | - |", page)

    def test_gpus_of_this_machine_are_counted_without_the_tool(self):
        before = os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", before)
        os.environ["PATH"] = str(self.folder / "nothing")
        self.assertEqual(gpus.gpu_count(), 0)


if __name__ == "__main__":
    unittest.main()
