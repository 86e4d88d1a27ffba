#!/usr/bin/env python3
"""Audits of this folder's programs that were recorded on a GPU by audited.py, judged again here without one.

    recorded_test.py --capgate CAPGATE

The programs were recorded without debug information, so that no line of theirs is expected.
"""

import argparse
import json
import subprocess
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import audited  # noqa: E402

EXPECTED = {"none": None, **audited.FAULTS, **audited.PYTHON}


class Recorded(unittest.TestCase):
    capgate = None

    def report(self, name):
        trace = HERE / "recorded" / f"{name}.cgtrace"
        done = subprocess.run([self.capgate, "analyze", trace], capture_output=True, text=True)
        self.assertIn(done.returncode, (0, 1, 2), done.stderr)
        return json.loads(done.stdout)

    def gate(self, report):
        done = subprocess.run([self.capgate, "gate", "--require", "replay", "-"], input=json.dumps(report), capture_output=True, text=True)
        return done.returncode, done.stdout

    def test_each_is_judged_as_it_was_recorded(self):
        recorded = sorted(path.stem for path in (HERE / "recorded").glob("*.cgtrace"))
        self.assertEqual(len(recorded), 10)
        for name in recorded:
            with self.subTest(name):
                wrong = audited.expect(self.report(name), EXPECTED[name])
                self.assertEqual([line for line in wrong if not line.startswith("the finding is at {'file': ''")], [])

    def test_the_gate_opens_for_the_graph_that_was_verified(self):
        code, said = self.gate(self.report("none"))
        self.assertEqual(code, 0, said)

    def test_the_gate_stays_closed_behind_a_difference(self):
        for name in audited.FAULTS:
            with self.subTest(name):
                code, said = self.gate(self.report(name))
                self.assertEqual(code, 1, said)

    def test_the_value_that_the_graph_keeps_is_named_with_that_of_the_eager_step(self):
        for name, message in (
            (
                "frozen-scalar",
                "argument 3 (float) of kernel (anonymous namespace)::project is 3 in the graph of capture 1 of s1, and 2 in each eager step",
            ),
            (
                "frozen-position",
                "argument 4 (int) of kernel (anonymous namespace)::attend is 0 in the graph of capture 1 of s1, and -1 in each eager step",
            ),
        ):
            with self.subTest(name):
                report = self.report(name)
                stale = [v for v in report["violations"] if v["rule"] == "stale-argument"]
                self.assertEqual([(v["severity"], v["message"]) for v in stale], [("error", message)])
                mismatch = next(v for v in report["violations"] if v["rule"] == "replay-mismatch")
                self.assertEqual(mismatch["symptom_of"], stale[0]["id"])

    def test_every_node_of_a_right_graph_is_matched(self):
        for name in ("none", "CuPy.test_a_right_graph", "PyTorch.test_a_right_graph", "PyTorch.test_modules_of_half_precision"):
            with self.subTest(name):
                compared = self.report(name)["coverage"]["replay"]["compared"]
                self.assertTrue(compared)
                self.assertEqual([c["matched"] for c in compared], [c["nodes"] for c in compared])

    # The process had loaded CuPy, whose blocks nobody followed.
    def test_the_gate_stays_closed_where_an_allocator_was_not_seen(self):
        code, said = self.gate(self.report("PyTorch.test_a_right_graph"))
        self.assertEqual(code, 2, said)
        self.assertIn("the blocks of CuPy were not seen", said)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--capgate", required=True)
    arguments, rest = parser.parse_known_args()
    Recorded.capgate = arguments.capgate
    unittest.main(argv=sys.argv[:1] + rest)
