# A table of tuned configurations has no entry for this shape: the look-up raises inside the capture, the program
# catches that outside and goes on eagerly. The clean twin catches it inside and takes the default, and all work is
# in the graph.
# Public fault: the class of sgl-project/sglang#3434.
import torch

from _twins import CLEAN, replayed, saw, warmed_up

x = torch.zeros(4, device="cuda")
TUNED = {1: 2.0, 8: 3.0}


def tuned_scale(batch):
    return TUNED[batch]  # EXPECT: capture-invalidated error tuned_scale


def scale_for(batch):
    if not CLEAN:
        return tuned_scale(batch)
    try:
        return tuned_scale(batch)
    except KeyError:
        return 1.0


def step(batch):
    x.add_(1.0)
    x.add_(scale_for(batch))


warmed_up(lambda: step(8))
graph = torch.cuda.CUDAGraph()
died = None
try:
    with torch.cuda.graph(graph):
        step(4)
except KeyError as error:
    died = error
    step(8)
if died is not None:
    torch.cuda.synchronize()
    saw(not CLEAN, f"went on eagerly: no configuration for batch {died}")
replayed(graph)
saw(CLEAN and x[0].item() == 18.0, "three replays")
