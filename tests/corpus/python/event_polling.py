# The step spins on an event until the copy that it guards is done.
# Public fault: JuliaGPU/CUDA.jl#1229.
# CORPUS-AUDIT: --region decode
import torch

from _twins import CLEAN, saw

x = torch.zeros(1 << 20, device="cuda")
copies = torch.cuda.Stream()
ready = torch.cuda.Event()
landing = torch.zeros(1 << 20).pin_memory()


def wait_until_ready():
    if CLEAN:
        torch.cuda.current_stream().wait_event(ready)
        return
    while not ready.query():  # EXPECT: host-poll error wait_until_ready
        pass


def step():
    with torch.cuda.stream(copies):
        landing.copy_(x, non_blocking=True)
        ready.record()
    wait_until_ready()
    x.add_(1)


for _ in range(3):
    with torch.cuda.nvtx.range("decode"):
        step()
torch.cuda.synchronize()
saw(x[0].item() == 3.0, "three eager steps")
