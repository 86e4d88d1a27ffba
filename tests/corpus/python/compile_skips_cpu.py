# torch.compile is asked for CUDA graphs and goes without: one input is a tensor on the CPU. The clean twin has it on
# the device.
# EXPECT-VERDICT: inconclusive
import torch

from _twins import CLEAN, saw

torch._inductor.config.graph_partition = False


def scaled(x, scale):
    return x * scale.to(x.device) + 1  # EXPECT: capture-skipped warning scaled


step = torch.compile(scaled, mode="reduce-overhead")
x = torch.ones(64, device="cuda")
scale = torch.full((64,), 2.0, device="cuda" if CLEAN else "cpu")
result = None
for _ in range(6):
    result = step(x, scale).clone()
torch.cuda.synchronize()
saw(result[0].item() == 3.0, "six steps")
