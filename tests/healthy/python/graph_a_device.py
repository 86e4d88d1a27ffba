# One graph a device, each with a stream of its own, the second behind the first by events between the launches.
# CORPUS-GPUS: 2
# CORPUS-TIMEOUT: 120
import sys

import torch

if torch.cuda.device_count() < 2:
    print("skipped: needs two GPUs", flush=True)
    sys.exit(77)


def captured_on(device):
    """The graph, its stream and the tensor that each replay counts up."""
    with torch.cuda.device(device):
        x = torch.zeros(4, device="cuda")
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            x.add_(1)
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            x.add_(1)
        return graph, stream, x


first, second = captured_on(0), captured_on(1)
for _ in range(4):
    with torch.cuda.stream(first[1]):
        first[0].replay()
    second[1].wait_stream(first[1])
    with torch.cuda.stream(second[1]):
        second[0].replay()
    first[1].wait_stream(second[1])
first[1].synchronize()
assert first[2][0].item() == 5.0 and second[2][0].item() == 5.0
print("as meant: four steps of one graph a device")
