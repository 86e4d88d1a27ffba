# A step on cuda:0 is captured while cuda:1 is the current device for part of it, as after a helper that looks at the other
# GPU: each operation goes where its tensors are, on that device's current stream, which is the captured one.
# CORPUS-GPUS: 2
# CORPUS-TIMEOUT: 120
import sys

import torch

if torch.cuda.device_count() < 2:
    print("skipped: needs two GPUs", flush=True)
    sys.exit(77)
x = torch.zeros(4, device="cuda:0")


def step():
    x.add_(1)
    with torch.cuda.device(1):
        x.add_(10)
        y = x * 2
        torch.sub(y, x, out=y)
        x.copy_(y)


stream = torch.cuda.Stream(device=0)
with torch.cuda.stream(stream):
    step()
for device in (0, 1):
    torch.cuda.synchronize(device)
graph = torch.cuda.CUDAGraph()
with torch.cuda.device(1):
    with torch.cuda.graph(graph, stream=stream):
        step()
    for _ in range(3):
        graph.replay()
for device in (0, 1):
    torch.cuda.synchronize(device)
assert x[0].item() == 44.0, x
print("as meant: three replays of a step under another current device")
