"""Does the preloaded library see PyTorch? A capture, a refused capture, an NVTX step and a marked one."""
import sys

import torch

sys.path.insert(0, "detector/python")
import capgate_marks as capgate  # noqa: E402


def refused(x):
    return x.sum().item()


def masked(x):
    return x[x > 0].sum()


x = torch.randn(1024, device="cuda")
side = torch.cuda.Stream()
with torch.cuda.stream(side):
    for _ in range(2):
        y = x * 2 + 1
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    y = x * 2 + 1
for _ in range(3):
    graph.replay()
torch.cuda.synchronize()
for _ in range(2):
    with torch.cuda.nvtx.range("decode-step"):
        masked(x)
        refused(x)
        torch.ones(8).to("cuda", non_blocking=True)
    with capgate.region("decode-step-by-python"):
        masked(x)
try:
    with torch.cuda.graph(torch.cuda.CUDAGraph()):
        refused(x)
except Exception as error:  # noqa: BLE001 - the refusal is the point
    print("refused:", str(error).splitlines()[0])
print("audited:", capgate.audited())
