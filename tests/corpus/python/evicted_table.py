# A bounded cache is the only owner of a table: other lengths push it out after the capture, and the graph reads whatever
# tensor gets its block. Public fault: the class of ROCm/aiter#5193.
import functools
import math

import torch

from _twins import CLEAN, captured, replayed, saw, warmed_up

ROWS = 1 << 20


@functools.lru_cache(maxsize=None if CLEAN else 2)
def rope_table(length):
    return torch.cos(torch.arange(ROWS, device="cuda") / length)


x = torch.ones(ROWS, device="cuda")
out = torch.zeros(ROWS, device="cuda")


def step(length=200):
    torch.mul(x, rope_table(length), out=out)  # EXPECT: freed-memory error step


warmed_up(step)
graph, _ = captured(step)
for length in (300, 400):
    step(length)
others = [torch.full((ROWS,), 7.0, device="cuda") for _ in range(4)]
replayed(graph)
value = float(out[200])
saw(abs(value - math.cos(1.0)) < 1e-6 or not CLEAN, f"the replay gave {value}")
