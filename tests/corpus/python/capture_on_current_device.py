# The model is on cuda:1 and the capture relies on the current device, which is 0: the graph is empty, and its replays
# leave on cuda:1 what the capture computed, whatever the input is now.
# Public faults: pytorch/pytorch#87894, NVlabs/alpamayo1.5#38.
# CORPUS-GPUS: 2
# CORPUS-TIMEOUT: 120
import torch

from _twins import CLEAN, captured, replayed, saw, warmed_up
from _two_devices import need_two_devices, wait_for_both

need_two_devices()
x = torch.ones(4, device="cuda:1")
out = torch.zeros(4, device="cuda:1")


def forward():
    torch.mul(x, 2, out=out)  # EXPECT: empty-graph error forward


with torch.cuda.device(1 if CLEAN else 0):
    warmed_up(forward)
    wait_for_both()
    graph, error = captured(forward)
    if graph is None:
        saw(False, f"the capture died: {error}")
    wait_for_both()
    x.fill_(5)
    wait_for_both()
    replayed(graph)
wait_for_both()
saw(out[0].item() == (10.0 if CLEAN else 2.0), "three replays with a new input")
