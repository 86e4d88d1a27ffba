# A debugging print and a nonzero() left in the marked step.
# Public fault: the class of pytorch/pytorch#78549.
# CORPUS-AUDIT: --region decode
import torch

from _twins import CLEAN, saw

x = torch.arange(4.0, device="cuda")
hits = torch.zeros((), device="cuda")


def debug(values):
    print("values:", values)  # EXPECT: host-sync|pageable-copy error debug


def count(values):
    if CLEAN:
        return (values != 0).sum()
    return values.nonzero().numel()  # EXPECT: host-sync error count may pageable-copy


def step():
    if not CLEAN:
        debug(x)
    hits.add_(count(x))


for _ in range(3):
    with torch.cuda.nvtx.range("decode"):
        step()
torch.cuda.synchronize()
saw(hits.item() == 9.0, "three eager steps")
