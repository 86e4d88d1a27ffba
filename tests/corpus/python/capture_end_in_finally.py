# A capture that is begun and ended by hand, the end in a finally: an assertion in the step fails, the capture is
# ended on the way out, and the program dies of the assertion.
# EXPECT-VERDICT: fail inconclusive
import torch

from _twins import CLEAN, replayed, saw, warmed_up

x = torch.zeros(4, device="cuda")
graph = torch.cuda.CUDAGraph()


def check(width):
    assert width % 8 == 0, f"width {width} is no multiple of 8"  # EXPECT: capture-invalidated error check


def step(width):
    x.add_(1.0)
    check(width)
    x.add_(1.0)


def captured(width):
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        graph.capture_begin()
        try:
            step(width)
        finally:
            graph.capture_end()


warmed_up(lambda: step(8))
captured(8 if CLEAN else 12)
replayed(graph)
saw(CLEAN and x[0].item() == 12.0, "three replays")
