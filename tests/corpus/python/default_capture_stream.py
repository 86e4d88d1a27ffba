# One graph a device, each captured with its device current. torch.cuda.graph makes its stream once for the process, on
# the first device; without a stream of its own the second capture is on that one, and its graph is empty.
# Public faults: mstar-project/mstar#55, the class of turboderp-org/exllamav3#230.
# CORPUS-GPUS: 2
# CORPUS-TIMEOUT: 120
import torch

from _twins import CLEAN, captured, replayed, saw, warmed_up
from _two_devices import need_two_devices, wait_for_both


def forward(x, out):
    torch.mul(x, 2, out=out)  # EXPECT: empty-graph error forward


def right_after_replays(device):
    with torch.cuda.device(device):
        x = torch.ones(4, device="cuda")
        out = torch.zeros(4, device="cuda")
        warmed_up(lambda: forward(x, out))
        options = {"stream": torch.cuda.Stream()} if CLEAN else {}
        graph, error = captured(lambda: forward(x, out), **options)
        if graph is None:
            saw(False, f"the capture on cuda:{device} died: {error}")
        wait_for_both()
        x.fill_(5)
        wait_for_both()
        replayed(graph)
        wait_for_both()
        return out[0].item() == 10.0


need_two_devices()
saw(right_after_replays(0) and right_after_replays(1) == CLEAN, "replays with a new input on both devices")
