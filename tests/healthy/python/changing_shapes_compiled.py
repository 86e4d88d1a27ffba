# torch.compile(mode="reduce-overhead") with batch sizes that change from call to call: a graph is recorded for each, and
# all share the pool of the trees. Tensors come and go in between.
# CORPUS-TIMEOUT: 300
import torch

torch.manual_seed(0)
first, second = torch.nn.Linear(64, 128).cuda(), torch.nn.Linear(128, 64).cuda()


@torch.compile(mode="reduce-overhead", dynamic=False)
def block(x):
    return second(torch.nn.functional.silu(first(x))) + x


with torch.no_grad():
    for i in range(24):
        torch.compiler.cudagraph_mark_step_begin()
        x = torch.randn((4, 16, 8)[i % 3], 64, device="cuda")
        churn = [torch.empty(1 << (9 + (i + k) % 12), device="cuda") for k in range(8)]
        out = block(x).clone()
        del churn
torch.cuda.synchronize()
assert torch.isfinite(out).all().item()
print("as meant: three shapes, many replays")
