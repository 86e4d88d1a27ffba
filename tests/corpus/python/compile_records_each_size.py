# A compiled step sees a new batch size at nearly every call: torch.compile records another CUDA graph for each. The
# clean twin pads to one size.
import torch

from _twins import CLEAN, saw

MOST = 24


def scaled(x):  # EXPECT: recapture warning scaled
    return torch.relu(x * 2) + 1


step = torch.compile(scaled, mode="reduce-overhead", dynamic=True)
total = 0.0
for size in range(2, MOST):
    for _ in range(3):
        x = torch.ones(MOST if CLEAN else size, 64, device="cuda")
        total += step(x).shape[0]
torch.cuda.synchronize()
saw(total > 0, "every size three times")
