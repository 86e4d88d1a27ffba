# A graph of cuda:0 is replayed by code that has cuda:1 current, between work for cuda:1: a replay finds its own device.
# CORPUS-GPUS: 2
# CORPUS-TIMEOUT: 120
import sys

import torch

if torch.cuda.device_count() < 2:
    print("skipped: needs two GPUs", flush=True)
    sys.exit(77)
x = torch.zeros(4, device="cuda:0")
y = torch.zeros(4, device="cuda:1")
x.add_(1)
torch.cuda.synchronize(0)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    x.add_(1)
with torch.cuda.device(1):
    for _ in range(4):
        graph.replay()
        y.add_(1)
for device in (0, 1):
    torch.cuda.synchronize(device)
assert x[0].item() == 5.0 and y[0].item() == 4.0
print("as meant: four replays under another current device")
