# torch.compile(mode="reduce-overhead"): warm-up, recording and replays are the framework's own business.
# CORPUS-TIMEOUT: 240
import torch

torch.manual_seed(0)
first, second = torch.nn.Linear(64, 128).cuda(), torch.nn.Linear(128, 64).cuda()


@torch.compile(mode="reduce-overhead")
def block(x):
    return second(torch.nn.functional.silu(first(x))) + x


x = torch.randn(8, 64, device="cuda")
with torch.no_grad():
    for _ in range(6):
        torch.compiler.cudagraph_mark_step_begin()
        out = block(x).clone()
torch.cuda.synchronize()
assert torch.isfinite(out).all()
print("as meant: compiled, recorded, replayed")
