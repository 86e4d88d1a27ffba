"""verify_replay on a GPU: graphs of PyTorch and CuPy that are right, and the same with one fault each. Exit code 77 without a GPU."""

import importlib
import os
import pathlib
import sys
import unittest

SOURCE = pathlib.Path(os.environ.get("CAPGATE_SOURCE", pathlib.Path(__file__).resolve().parents[3]))
sys.path.insert(0, str(SOURCE / "detector/python"))

from capgate_marks import verify_replay  # noqa: E402
from capgate_verify import ReplayMismatch  # noqa: E402

try:
    import torch
except ImportError:
    torch = None
try:
    cupy = None if os.environ.get("WITHOUT_CUPY") else importlib.import_module("cupy")
except ImportError:
    cupy = None


class Decode:
    """A decode step with a cache that it writes at a position which lies on the device."""

    WIDTH, LONGEST = 256, 16

    def __init__(self):
        torch.manual_seed(1)
        self.first = torch.randn(self.WIDTH, 4 * self.WIDTH, device="cuda") / 16
        self.second = torch.randn(4 * self.WIDTH, self.WIDTH, device="cuda") / 32
        self.x = torch.zeros(4, self.WIDTH, device="cuda")
        self.prompts = torch.randn(3, 4, self.WIDTH, device="cuda")
        self.cache = torch.zeros(self.LONGEST, 4, self.WIDTH, device="cuda")
        self.position = torch.zeros(1, dtype=torch.int64, device="cuda")
        self.logits = torch.zeros(4, self.WIDTH, device="cuda")
        self.side = torch.cuda.Stream()
        self.tail = torch.zeros(4, device="cuda")

    def load(self, input_set, step):
        self.x.copy_(self.prompts[input_set] * (1 + step))

    def step(self, position=None, extra=None, lose_work=False):
        hidden = torch.nn.functional.silu(self.x @ self.first) @ self.second
        if extra is not None:
            hidden = hidden * extra
        self.cache.index_copy_(0, self.position if position is None else position, hidden[None])
        self.logits.copy_(hidden + self.cache.sum(0))
        if lose_work:
            with torch.cuda.stream(self.side):
                self.tail.copy_(self.x.sum(1))
        else:
            self.tail.copy_(self.x.sum(1))
        self.position.add_(1)

    def graph(self, **options):
        kept = self.cache.clone(), self.position.clone()
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            self.step(**{**options, "lose_work": False})
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, capture_error_mode="relaxed"):
            self.step(**options)
        self.cache.copy_(kept[0]), self.position.copy_(kept[1])
        return graph

    def verify(self, replay, eager=None, **options):
        return verify_replay(
            eager or self.step, replay, load=self.load, inputs=3, steps=4,
            outputs={"logits": self.logits, "tail": self.tail}, state={"cache": self.cache, "position": self.position}, **options,
        )  # fmt: skip


@unittest.skipUnless(torch and torch.cuda.is_available(), "no PyTorch with a GPU")
class PyTorch(unittest.TestCase):
    def setUp(self):
        self.decode = Decode()

    def differs(self, replay, what, **options):
        with self.assertRaises(ReplayMismatch) as raised:
            self.decode.verify(replay, **options)
        print(raised.exception)
        self.assertIn(what, [m.what for m in raised.exception.verification.mismatches])
        return raised.exception.verification.mismatches[0]

    def test_a_right_graph(self):
        graph = self.decode.graph()
        free = torch.empty(1 << 24, dtype=torch.uint8, device="cuda")  # after the capture, which empties the cache
        del free
        done = self.decode.verify(graph.replay)
        print(done)
        self.assertTrue(done.ok)
        self.assertGreater(done.refilled_bytes, 1 << 23)

    def test_a_graph_that_is_captured_here(self):
        self.assertTrue(self.decode.verify(None).ok)

    def test_a_position_that_the_graph_keeps(self):
        mismatch = self.differs(self.decode.graph(position=torch.tensor([0], device="cuda")).replay, "cache")
        self.assertEqual(mismatch.step, 1)

    def test_memory_that_was_freed(self):
        extra = torch.full((4, 256), 3.0, device="cuda")
        kept = extra.clone()
        graph = self.decode.graph(extra=extra)
        del extra
        self.differs(graph.replay, "logits", eager=lambda: self.decode.step(extra=kept))

    def test_the_same_memory_kept(self):
        extra = torch.full((4, 256), 3.0, device="cuda")
        graph = self.decode.graph(extra=extra)
        self.assertTrue(self.decode.verify(graph.replay, eager=lambda: self.decode.step(extra=extra)).ok)

    def test_work_that_the_graph_lacks(self):
        self.differs(self.decode.graph(lose_work=True).replay, "tail")

    def test_inputs_that_moved(self):
        graph = self.decode.graph()
        self.decode.x = torch.zeros_like(self.decode.x)
        self.differs(graph.replay, "logits")

    def test_state_that_a_graph_resets(self):
        graph = self.decode.graph()

        def replay():
            graph.replay()
            self.decode.position.zero_()

        self.differs(replay, "position")

    def test_modules_of_half_precision(self):
        model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.Linear(64, 8)).cuda().bfloat16()
        x = torch.zeros(2, 64, device="cuda", dtype=torch.bfloat16)

        def load(input_set):
            torch.manual_seed(input_set)
            x.copy_(torch.randn(2, 64, device="cuda"))

        with torch.no_grad():
            self.assertTrue(verify_replay(lambda: model(x), load=load).ok)


@unittest.skipUnless(cupy, "no CuPy")
class CuPy(unittest.TestCase):
    def verify(self, free_scale):
        stream = cupy.cuda.Stream(non_blocking=True)
        x, y = cupy.zeros(64, cupy.float32), cupy.zeros(64, cupy.float32)
        prompts = cupy.random.rand(2, 64).astype(cupy.float32)
        scale = cupy.full(64, 3.0, cupy.float32)
        kept = scale.copy()

        def step(factor):
            with stream:
                cupy.multiply(x, factor, out=y)
                cupy.add(y, x, out=y)

        step(scale)
        stream.synchronize()
        with stream:
            stream.begin_capture()
            step(scale)
            graph = stream.end_capture()
        if free_scale:
            del scale
        return verify_replay(
            lambda: step(kept), lambda: graph.launch(stream), load=lambda i: x.__setitem__(..., prompts[i]), outputs={"y": y}
        )

    def test_a_right_graph(self):
        self.assertTrue(self.verify(False).ok)

    def test_memory_that_was_freed(self):
        with self.assertRaises(ReplayMismatch) as raised:
            self.verify(True)
        print(raised.exception)


if __name__ == "__main__":
    if not (torch and torch.cuda.is_available()) and not cupy:
        print("no PyTorch or CuPy with a GPU")
        sys.exit(77)
    unittest.main(verbosity=2)
