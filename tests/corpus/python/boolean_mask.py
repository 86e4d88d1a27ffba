# A boolean mask selects rows inside the captured step: how many is only known on the device.
# Public fault: pytorch/pytorch#78549.
import torch

from _twins import CLEAN, captured, replayed, saw, warmed_up

x = torch.arange(8.0, device="cuda")
total = torch.zeros((), device="cuda")


def chosen_sum(values):
    mask = values > 3
    if CLEAN:
        return torch.where(mask, values, 0.0).sum()
    return values[mask].sum()  # EXPECT: host-sync error chosen_sum may pageable-copy


def step():
    total.copy_(chosen_sum(x))


warmed_up(step)
graph, error = captured(step)
if graph is None:
    saw(not CLEAN, f"the capture died: {error}")
replayed(graph)
saw(CLEAN and total.item() == 22.0, "three replays")
