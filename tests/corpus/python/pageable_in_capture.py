# The same upload inside a capture: the framework refuses by itself, before CUDA is asked, and the program ends with an
# uncaught exception.
# Public fault: vllm-project/vllm#40807.
# EXPECT-VERDICT: fail inconclusive
import torch

from _twins import CLEAN, replayed, saw, warmed_up

inputs = torch.arange(1024, dtype=torch.float32)
resident = inputs.to("cuda")
total = torch.zeros(1024, device="cuda")


def step(values):
    total.add_(values.to("cuda", non_blocking=True))  # EXPECT: pageable-copy error step


warmed_up(lambda: step(inputs))
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    step(resident if CLEAN else inputs)
replayed(graph)
saw(CLEAN and total[1].item() == 6.0, "three replays")
