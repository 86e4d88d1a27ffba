# The second half of the step is on cuda:1, on whose stream the capture on cuda:0 has no hold: it runs once, while
# capturing, and no replay repeats it.
# Public faults: the class of vllm-project/vllm#11233 and ikawrakow/ik_llama.cpp#1040.
# CORPUS-GPUS: 2
# CORPUS-TIMEOUT: 120
import torch

from _twins import CLEAN, captured, replayed, saw, warmed_up
from _two_devices import need_two_devices, wait_for_both

need_two_devices()
x = torch.zeros(4, device="cuda:0")
y = torch.zeros(4, device="cuda:1")
other = torch.cuda.Stream(device=1)


def second_half():
    y.add_(1)  # EXPECT: wrong-device error second_half


def step():
    x.add_(1)
    if not CLEAN:
        return second_half()
    here = torch.cuda.current_stream()
    other.wait_stream(here)
    with torch.cuda.stream(other):
        second_half()
    here.wait_stream(other)


warmed_up(step)
wait_for_both()
graph, error = captured(step)
if graph is None:
    saw(False, f"the capture died: {error}")
wait_for_both()
replayed(graph)
wait_for_both()
there = y[0].item()
saw(x[0].item() == 6.0 and there == (6.0 if CLEAN else 4.0), "three replays")
