# A time measurement left in the step waits for the whole device.
# Public fault: ggml-org/llama.cpp#14033.
# CORPUS-AUDIT: --region decode
import time

import torch

from _twins import CLEAN, saw

x = torch.zeros(16, device="cuda")


def timed(work):
    start = time.perf_counter()
    work()
    if not CLEAN:
        torch.cuda.synchronize()  # EXPECT: host-sync error timed
    return time.perf_counter() - start


def step():
    return timed(lambda: x.add_(1))


for _ in range(3):
    with torch.cuda.nvtx.range("decode"):
        step()
torch.cuda.synchronize()
saw(x[0].item() == 3.0, "three eager steps")
