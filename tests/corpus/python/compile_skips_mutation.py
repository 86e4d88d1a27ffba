# torch.compile is asked for CUDA graphs and goes without: the step writes to its input, which is a new tensor each
# time. It says so once, on stderr, and runs eagerly from then on. The clean twin returns a new tensor instead.
# EXPECT-VERDICT: inconclusive
import torch

from _twins import CLEAN, saw


def accumulated(total, value):
    if CLEAN:
        return total + value * 2
    total.add_(value * 2)  # EXPECT: capture-skipped warning accumulated
    return total


step = torch.compile(accumulated, mode="reduce-overhead")
value = torch.ones(64, device="cuda")
result = None
for _ in range(6):
    result = step(torch.zeros(64, device="cuda"), value).clone()
torch.cuda.synchronize()
saw(result[0].item() == 2.0, "six steps")
