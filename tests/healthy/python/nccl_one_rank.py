# A captured all-reduce of one rank, with the communication library's watchdog alive.
# CORPUS-TIMEOUT: 180
import tempfile

import torch
import torch.distributed as dist

store = tempfile.NamedTemporaryFile(delete=False)
torch.cuda.set_device(0)
dist.init_process_group("nccl", init_method=f"file://{store.name}", rank=0, world_size=1)
x = torch.ones(1024, device="cuda")


def step():
    x.mul_(2)
    dist.all_reduce(x)


side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        step()
torch.cuda.current_stream().wait_stream(side)
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    step()
for _ in range(3):
    graph.replay()
torch.cuda.synchronize()
assert x[0].item() == 64.0
del graph
dist.destroy_process_group()
print("as meant: three replays of an all-reduce")
