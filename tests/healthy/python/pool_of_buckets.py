# Graphs of three batch sizes share one pool, captured from the largest to the smallest. Tensors come and go between the
# replays, and the caching allocator gives memory back to CUDA.
import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(128, 256), torch.nn.SiLU(), torch.nn.Linear(256, 128)).cuda().eval()
pool = torch.cuda.graph_pool_handle()
graphs, inputs, outputs, right = {}, {}, {}, []

with torch.no_grad():
    for size in (32, 8, 1):
        inputs[size] = torch.randn(size, 128, device="cuda")
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            model(inputs[size])
        torch.cuda.current_stream().wait_stream(side)
        graphs[size] = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graphs[size], pool=pool):
            outputs[size] = model(inputs[size])

    for i in range(20):
        size = (32, 8, 1)[i % 3]
        x = torch.randn(size, 128, device="cuda")
        inputs[size].copy_(x)
        graphs[size].replay()
        got = outputs[size].clone()
        churn = [torch.empty(1 << (10 + (i + k) % 12), device="cuda") for k in range(8)]
        right.append(torch.isclose(got, model(x), atol=1e-4).all())
        del churn
        if i % 7 == 6:
            torch.cuda.empty_cache()
assert torch.stack(right).all().item()
print("as meant: three sizes, one pool")
