# Routing is taken to the host in every marked step, once as a list and once as a tensor.
# Public fault: RobTand/gridbook#47.
# CORPUS-AUDIT: --region decode
import torch

from _twins import CLEAN, saw

scores = torch.arange(16.0, device="cuda")
x = torch.zeros(16, device="cuda")


def experts_of(values):
    return torch.topk(values, 2).indices


def route():
    chosen = experts_of(scores)
    if CLEAN:
        x.index_add_(0, chosen, torch.ones_like(scores)[:2])
        return
    for expert in chosen.tolist():  # EXPECT: host-sync|pageable-copy error route
        x[expert].add_(1)
    highest = scores.cpu()  # EXPECT: host-sync|pageable-copy error route
    assert highest[15] == 15


for _ in range(3):
    with torch.cuda.nvtx.range("decode"):
        route()
torch.cuda.synchronize()
saw(x[15].item() == 3.0, "three eager steps")
