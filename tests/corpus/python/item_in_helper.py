# A captured step reads a device value with .item(), three calls down.
# Public fault: the class of pytorch/pytorch#78549.
import torch

from _twins import CLEAN, captured, replayed, saw, warmed_up

x = torch.zeros(4, device="cuda")
scale = torch.full((), 2.0, device="cuda")


def temperature():
    return scale if CLEAN else scale.item()  # EXPECT: host-sync error temperature may pageable-copy


def scaled(value):
    return value * temperature()


def step():
    x.add_(scaled(torch.ones_like(x)))


warmed_up(step)
graph, error = captured(step)
if graph is None:
    saw(not CLEAN, f"the capture died: {error}")
replayed(graph)
saw(CLEAN and x[0].item() == 12.0, "three replays")
