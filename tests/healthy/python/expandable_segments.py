# Expandable segments: the allocator maps memory inside a capture.
# CORPUS-ENV: PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True PYTORCH_ALLOC_CONF=expandable_segments:True
# CORPUS-TIMEOUT: 120
import torch

x = torch.ones(256, 256, device="cuda")
out = torch.zeros(256, 256, device="cuda")


def step():
    hidden = torch.matmul(x, x)
    wide = torch.cat([hidden] * 64, dim=0)  # new memory while capturing
    out.copy_(wide[:256] / 256)


side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        step()
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    step()
for _ in range(5):
    graph.replay()
torch.cuda.synchronize()
assert out[0, 0].item() == 1.0
print("as meant: five replays")
