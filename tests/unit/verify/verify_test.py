"""verify_replay against steps whose "graph" keeps what a captured graph would keep wrongly."""

import math
import os
import pathlib
import sys
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(SOURCE / "detector/python"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import capgate_marks  # noqa: E402
from arrays import Array  # noqa: E402
from capgate_marks import verify_replay  # noqa: E402
from capgate_verify import NothingVerified, ReplayMismatch  # noqa: E402


class Program:
    """y = x * scale + sum of all x so far; `position` counts the steps."""

    def __init__(self):
        self.x = Array([0.0, 0.0])
        self.y = Array([0.0, 0.0])
        self.sums = Array([0.0, 0.0])
        self.position = Array([0], "int32")
        self.scale = 2.0
        self.loads = []

    def load(self, input_set, step):
        self.loads.append((input_set, step))
        self.x.values[:] = [1.0 + input_set + step, 10.0 * (input_set + 1)]

    def step(self, scale=None, position=None):
        position = self.position.values[0] if position is None else position
        for i, x in enumerate(self.x.values):
            self.sums.values[i] += x
            self.y.values[i] = x * (self.scale if scale is None else scale) + self.sums.values[i] + position
        self.position.values[0] = position + 1

    def verify(self, replay=None, **options):
        settings = dict(load=self.load, outputs={"y": self.y}, state={"sums": self.sums, "position": self.position})
        settings.update(options)
        return verify_replay(self.step, replay or self.step, **settings)


class Verify(unittest.TestCase):
    def setUp(self):
        self.program = Program()

    def mismatch(self, replay, **options):
        with self.assertRaises(ReplayMismatch) as raised:
            self.program.verify(replay, **options)
        return raised.exception

    def test_an_equal_replay(self):
        done = self.program.verify(inputs=3, steps=4)
        self.assertTrue(done.ok)
        self.assertEqual((done.input_sets, done.steps, done.outputs), (3, 4, ["position", "sums", "y"]))
        self.assertEqual(done.unvaried, ["position"])
        self.assertEqual(
            str(done), "the step: replays gave the eager results for 3 input sets over 4 consecutive steps; no input set changed position"
        )
        # Each set: two fillings, each with two eager runs and a replay, of four steps.
        self.assertEqual(len(self.program.loads), 3 * 2 * 3 * 4)
        self.assertEqual(self.program.loads[:5], [(0, 0), (0, 1), (0, 2), (0, 3), (0, 0)])

    def test_the_state_is_put_back(self):
        self.program.sums.values[:] = [5.0, 6.0]
        self.program.verify()
        self.assertEqual((self.program.sums.values, self.program.position.values), ([5.0, 6.0], [0]))

    def test_a_frozen_scalar(self):
        self.program.scale = 2.5
        error = self.mismatch(lambda: self.program.step(scale=2.0))
        first = error.verification.mismatches[0]
        self.assertEqual((first.what, first.input_set, first.step, first.index), ("y", 0, 0, 0))
        self.assertEqual((first.eager, first.replay, first.elements, first.of), (3.5, 3.0, 2, 2))
        self.assertEqual(first.largest, 5.0)
        self.assertIn("y differs in step 1, input set 0: element 0 is 3.0, eagerly 3.5 (2 of 2 elements differ, by 5 at most", str(error))

    def test_a_frozen_position_shows_in_the_second_step(self):
        first = self.mismatch(lambda: self.program.step(position=0)).verification.mismatches[0]
        self.assertEqual((first.what, first.step), ("y", 1))

    def test_frozen_inputs(self):
        def replay():
            self.program.x.values[:] = [1.0, 10.0]
            self.program.step()

        self.assertEqual(self.mismatch(replay).verification.mismatches[0].step, 1)

    def test_an_output_that_the_graph_does_not_write(self):
        for steps in (3, 5):
            text = str(self.mismatch(lambda: None, state={}, steps=steps))
            self.assertIn("element 0 is nan", text)

    def test_an_output_that_neither_writes_is_equal(self):
        other = Array([0.0])
        self.assertIn("other", self.program.verify(outputs={"y": self.program.y, "other": other}).unvaried)

    def test_a_nan_that_the_step_itself_gives(self):
        def step():
            self.program.step()
            self.program.y.values[1] = math.nan

        verify_replay(step, step, load=self.program.load, outputs={"y": self.program.y}, state={"sums": self.program.sums})

    def test_state_that_the_graph_does_not_carry_on(self):
        def replay():
            kept = list(self.program.sums.values)
            self.program.step()
            self.program.sums.values[:] = kept

        names = {m.what for m in self.mismatch(replay).verification.mismatches}
        self.assertIn("sums", names)

    def test_outputs_that_are_returned(self):
        def step():
            self.program.step()
            return {"logits": self.program.y.copy(), "more": [self.program.sums.copy(), 7]}

        done = verify_replay(step, step, load=self.program.load, state={"position": self.program.position, "sums": self.program.sums})
        self.assertEqual(done.outputs, ["logits", "more[0]", "position", "sums"])

    def test_rounding_is_allowed_and_more_is_not(self):
        def off_by(part):
            def replay():
                self.program.step()
                self.program.y.values[0] *= 1 + part

            return replay

        self.program.verify(off_by(1e-6))
        self.mismatch(off_by(1e-4))
        self.program.verify(off_by(1e-4), tolerance=(1e-3, 0.0))

    def test_noise_of_the_eager_step_is_allowed(self):
        flip = iter(range(10**6))

        def noisy():
            self.program.step()
            self.program.y.values[0] += 0.25 * (next(flip) // 3 % 2)

        done = verify_replay(
            noisy,
            noisy,
            load=self.program.load,
            outputs={"y": self.program.y},
            state={"sums": self.program.sums, "position": self.program.position},
        )
        self.assertEqual(done.noise["y"], 0.25)

    def test_whole_numbers_are_equal_or_not(self):
        tokens = Array([0, 0], "int32")

        def step(off=0):
            tokens.values[:] = [int(x) + off for x in self.program.x.values]

        settings = dict(load=self.program.load, outputs={"tokens": tokens})
        verify_replay(step, step, **settings)
        with self.assertRaises(ReplayMismatch):
            verify_replay(step, lambda: step(1), **settings)

    def test_inputs_that_change_nothing_verify_nothing(self):
        with self.assertRaisesRegex(NothingVerified, r"the 2 input sets give the same eager outputs"):
            self.program.verify(load=lambda i: None)

    def test_calls_that_can_prove_nothing(self):
        for options, words in (
            ({"inputs": 1}, "1 input set"),
            ({"steps": 2}, "2 steps"),
            ({"outputs": {}, "state": {}}, "no output is known"),
        ):
            with self.subTest(options), self.assertRaisesRegex(NothingVerified, words):
                self.program.verify(**options)

    def test_other_outputs_than_the_eager_step(self):
        with self.assertRaisesRegex(NothingVerified, "the eager step gives output, the replay y"):
            verify_replay(lambda: Array([self.program.x.values[0]]), lambda: {"y": self.program.y.copy()}, load=self.program.load)

    def test_an_exception_of_the_program_is_its_own(self):
        def replay():
            raise RuntimeError("an illegal memory access was encountered")

        with self.assertRaisesRegex(RuntimeError, "illegal memory access"):
            self.program.verify(replay)

    def test_a_shape_that_differs(self):
        with self.assertRaisesRegex(ReplayMismatch, r"element 0 is 'float32\[1\]', eagerly 'float32\[2\]'"):
            verify_replay(lambda: self.program.x.copy(), lambda: Array([1.0]), load=self.program.load)

    def test_noise_is_no_other_input(self):
        flip = iter(range(10**6))

        def noisy():
            self.program.y.values[:] = [0.25 * (next(flip) // 3 % 2), 1.0]

        with self.assertRaisesRegex(NothingVerified, "the 2 input sets give the same eager outputs"):
            verify_replay(noisy, noisy, load=lambda i: None, outputs={"y": self.program.y})


class Evidence(unittest.TestCase):
    """What an audit is told."""

    def setUp(self):
        self.program = Program()
        self.told = []
        hook, absent = capgate_marks._hook, capgate_marks._absent
        self.addCleanup(lambda: (setattr(capgate_marks, "_hook", hook), setattr(capgate_marks, "_absent", absent)))
        capgate_marks._hook = self.hook

    def hook(self, op, a, b):
        if op:
            self.told.append(f"{op} {a.decode()}: {b.decode()}")
        return 1

    def count(self, beginning):
        return sum(line.startswith(beginning) for line in self.told)

    def test_each_step_and_its_phases(self):
        self.program.verify(name="decode")
        self.assertEqual(self.told[0], "11 decode: inputs=2 steps=3")
        self.assertEqual(self.told[1], "12 load: run=eager set=0 step=0 filling=0 refilled=0")
        self.assertEqual(self.told[2:5], ["12 fill: ", "12 launch: ", "12 read: "])
        self.assertEqual(self.count("12 load: run=replay "), 2 * 2 * 3)
        self.assertEqual(self.count("12 load: run=eager "), 2 * (2 * 2 * 3))
        place = self.program.y.__array_interface__["data"][0]
        self.assertEqual(self.count(f"13 y: address={place:#x} bytes=8 by=host state=0"), 1)
        self.assertEqual(self.count("13 sums: address="), 1)
        self.assertEqual(self.count("13 y: noise=0.0 varied=1"), 1)
        self.assertEqual(self.count("13 position: noise=0.0 varied=0"), 1)
        self.assertEqual(self.told[-1], "15 equal: refilled=0 varied=1")

    def test_the_outputs_are_told_between_the_replay_and_their_copies(self):
        self.program.verify()
        at = next(i for i, line in enumerate(self.told) if line.startswith("13 y: address="))
        self.assertEqual(self.told[at - 1], "12 launch: ")
        self.assertIn("12 read: ", self.told[at : at + 4])

    def test_the_first_difference(self):
        self.program.scale = 2.5
        with self.assertRaises(ReplayMismatch):
            self.program.verify(lambda: self.program.step(scale=2.0))
        self.assertEqual(
            self.count("14 y: set=0 step=0 filling=0 refilled=0 index=0 eager=3.5 replay=3.0 elements=2 of=2 largest=5.0 allowed="), 1
        )
        self.assertEqual(self.told[-1], "15 differs: refilled=0 varied=1")

    def test_an_output_that_was_not_written(self):
        with self.assertRaises(ReplayMismatch):
            self.program.verify(lambda: None, state={})
        self.assertIn(" kept=1 ", next(line for line in self.told if line.startswith("14 y: ")))

    def test_a_shape_is_told_without_a_space(self):
        with self.assertRaises(ReplayMismatch):
            verify_replay(lambda: self.program.x.copy(), lambda: Array([1.0]), load=self.program.load)
        self.assertIn("eager=float32[2] replay=float32[1] ", next(line for line in self.told if line.startswith("14 ")))

    def test_why_nothing_is_verified(self):
        with self.assertRaises(NothingVerified):
            self.program.verify(inputs=1)
        self.assertEqual(self.told[0], "11 the step: inputs=1 steps=3")
        self.assertTrue(self.told[1].startswith("15 nothing: why=1 input set: a value"), self.told[1])

    def test_an_exception_of_the_program(self):
        def replay():
            raise RuntimeError("an illegal\nmemory access")

        with self.assertRaises(RuntimeError):
            self.program.verify(replay)
        self.assertEqual(self.told[-1], "15 raised: why=RuntimeError: an illegal memory access")

    def test_without_an_audit_nothing_is_told(self):
        capgate_marks._hook, capgate_marks._absent = None, True
        self.program.verify()
        self.assertEqual(self.told, [])


if __name__ == "__main__":
    unittest.main()
