# Half of the captured step runs on a side stream that nobody joins.
# Public fault: deepseek-ai/DeepEP#62.
import torch

from _twins import CLEAN, captured, replayed, saw, warmed_up

x = torch.zeros(4, device="cuda")
y = torch.zeros(4, device="cuda")
side = torch.cuda.Stream()


def overlapped():
    current = torch.cuda.current_stream()
    side.wait_stream(current)  # EXPECT: unjoined-stream error overlapped
    with torch.cuda.stream(side):
        y.add_(1)
    x.add_(1)
    if CLEAN:
        current.wait_stream(side)


warmed_up(overlapped)
graph, error = captured(overlapped)
if graph is None:
    saw(not CLEAN, f"the capture died: {error}")
replayed(graph)
saw(CLEAN and y[0].item() == 6.0, "three replays")
