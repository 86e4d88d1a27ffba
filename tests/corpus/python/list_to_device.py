# Positions are kept as a Python list and made a device tensor in every marked step.
# Public fault: NVIDIA/TransformerEngine#3038.
# CORPUS-AUDIT: --region decode
import torch

from _twins import CLEAN, saw

positions = list(range(16))
total = torch.zeros(16, device="cuda")
resident = torch.tensor(positions, device="cuda")


def step():
    if CLEAN:
        where = resident
    else:
        # EXPECT: pageable-copy|host-sync error step
        where = torch.tensor(positions, device="cuda")
    total.add_(where)


for _ in range(4):
    with torch.cuda.nvtx.range("decode"):
        step()
torch.cuda.synchronize()
saw(total[2].item() == 8.0, "four eager steps")
