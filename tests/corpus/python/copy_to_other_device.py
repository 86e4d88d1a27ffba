# A copy to cuda:1 orders itself behind the current stream there. While only a stream of cuda:0 is being captured, that
# is an event from outside the capture: 905. With a stream of each device in the capture the same copy is a node.
# Public fault: the class of pytorch/pytorch#87794.
# CORPUS-GPUS: 2
# CORPUS-TIMEOUT: 120
import torch

from _twins import CLEAN, captured, replayed, saw, warmed_up
from _two_devices import need_two_devices, wait_for_both

need_two_devices()
x = torch.zeros(4, device="cuda:0")
y = torch.zeros(4, device="cuda:1")
other = torch.cuda.Stream(device=1)


def send():
    y.copy_(x, non_blocking=True)  # EXPECT: foreign-event error send


def step():
    x.add_(1)
    if not CLEAN:
        return send()
    here = torch.cuda.current_stream()
    other.wait_stream(here)
    with torch.cuda.stream(other):
        send()
    here.wait_stream(other)


warmed_up(step)
wait_for_both()
graph, error = captured(step)
if graph is None:
    saw(not CLEAN, f"the capture died: {error}")
wait_for_both()
replayed(graph)
wait_for_both()
saw(CLEAN and y[0].item() == 6.0, "three replays")
