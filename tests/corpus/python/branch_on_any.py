# The step branches on a device value: whether any sequence has finished.
# Public fault: the class of NVIDIA/Fuser#5438: a validation that waits.
# CORPUS-AUDIT: --region decode
import torch

from _twins import CLEAN, saw

finished = torch.zeros(8, dtype=torch.bool, device="cuda")
x = torch.zeros(8, device="cuda")


def step():
    if CLEAN:
        x.add_(torch.where(finished, 0.0, 1.0))
    else:
        if finished.any():  # EXPECT: host-sync error step may pageable-copy
            return
        x.add_(1)


for _ in range(4):
    torch.cuda.nvtx.range_push("decode")
    step()
    torch.cuda.nvtx.range_pop()
torch.cuda.synchronize()
saw(x[0].item() == 4.0, "four eager steps")
