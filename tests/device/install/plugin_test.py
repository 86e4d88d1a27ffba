"""`pytest --capgate` on a GPU: a test file as a project has it, whose tests know nothing of capgate."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from gpu_here import NO_GPU, has_gpu  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
TESTS = """
import pytest
import torch

def captured(step):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph

@pytest.fixture
def x():
    return torch.ones(1024, device="cuda")

def test_clean(x):
    captured(lambda: x.mul_(1.5)).replay()
    torch.cuda.synchronize()

def test_waits(x):
    with pytest.raises(RuntimeError):
        captured(lambda: x.mul_(x.sum().item()))

@pytest.mark.capgate(expect="host-sync")
def test_waits_on_purpose(x):
    with pytest.raises(RuntimeError):
        captured(lambda: x.mul_(x.sum().item()))

def test_eager(x):
    assert x.sum().item() == 1024

def test_no_cuda():
    assert torch.ones(3).sum() == 3

def test_verified(x, verify_replay):
    y = torch.zeros(1024, device="cuda")
    verify_replay(eager=lambda: torch.mul(x, 2, out=y), load=lambda i: x.fill_(i + 1), outputs={"y": y})
"""


class PluginOnGpu(unittest.TestCase):
    def test_results(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "test_graphs.py").write_text(TESTS)
            environment = os.environ | {
                "PYTHONPATH": f"{ROOT}/packaging/python:{ROOT}/detector/python", "CAPGATE": os.environ["CAPGATE"], "NO_COLOR": "1", "COLUMNS": "160",
            }  # fmt: skip
            words = [
                sys.executable,
                "-m",
                "pytest",
                "-v",
                "-p",
                "capgate.pytest_plugin",
                "-p",
                "no:cacheprovider",
                "--capgate",
                "test_graphs.py",
            ]
            done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=500)
        found = dict(re.findall(r"^test_graphs\.py::(\S+) (PASSED|FAILED|ERROR)", done.stdout, re.MULTILINE))
        wanted = dict.fromkeys(("test_clean", "test_waits_on_purpose", "test_eager", "test_no_cuda", "test_verified"), "PASSED")
        self.assertEqual(found, wanted | {"test_waits": "FAILED"}, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"gate: fail - CAPTURE DIES at \S*test_graphs\.py:25 ")
        self.assertIn("6 tests audited, 4 of them captured or marked a step", done.stdout)


if __name__ == "__main__":
    if not has_gpu() or not (importlib.util.find_spec("torch") and importlib.util.find_spec("pytest")):
        print("skipped: needs a GPU, torch and pytest")
        sys.exit(NO_GPU)
    unittest.main()
