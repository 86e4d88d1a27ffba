# Part of the captured step is sent to the default stream by name: it runs once, while capturing, and no replay does it.
# Public fault: huggingface/candle#3596.
import contextlib

import torch

from _twins import CLEAN, captured, replayed, saw, warmed_up

x = torch.zeros(4, device="cuda")
y = torch.zeros(4, device="cuda")


def attention():
    with contextlib.nullcontext() if CLEAN else torch.cuda.stream(torch.cuda.default_stream()):
        y.add_(1)  # EXPECT: default-stream error attention


def step():
    x.add_(1)
    attention()


warmed_up(step)
graph, error = captured(step)
if graph is None:
    saw(False, f"the capture died: {error}")
replayed(graph)
saw(x[0].item() == 6.0 and y[0].item() == (6.0 if CLEAN else 4.0), "three replays")
