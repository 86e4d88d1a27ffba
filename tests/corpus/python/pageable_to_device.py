# The marked step uploads its inputs "without blocking" from memory that is not pinned: a graph would keep the host address.
# Public fault: the class of pytorch/pytorch#91302.
# CORPUS-AUDIT: --region step
import torch

from _twins import CLEAN, saw

inputs = torch.arange(1024, dtype=torch.float32)
if CLEAN:
    inputs = inputs.pin_memory()
total = torch.zeros(1024, device="cuda")


def upload():
    return inputs.to("cuda", non_blocking=True)  # EXPECT: pageable-copy error upload


def step():
    total.add_(upload())


for _ in range(4):
    torch.cuda.nvtx.range_push("step")
    step()
    torch.cuda.nvtx.range_pop()
torch.cuda.synchronize()
saw(total[1].item() == 4.0, "four eager steps")
