# Regions, an eager break and an allowed call marked by the module that users copy: the wait in the break is meant to be
# there, the allowed one has its reason, the third is the fault.
# Public fault: the class of microsoft/onnxruntime#15002.
import pathlib
import sys

import torch

from _twins import CLEAN, saw

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "detector" / "python"))
import capgate_marks  # noqa: E402

x = torch.zeros(4, device="cuda")


def finish_layer():
    if not CLEAN:
        torch.cuda.current_stream().synchronize()  # EXPECT: host-sync error finish_layer


def dynamic_part():
    with capgate_marks.eager_break("sampling"):
        torch.cuda.current_stream().synchronize()


def checked():
    with capgate_marks.allow("host-sync", "the sanity check of this test waits on purpose"):
        torch.cuda.current_stream().synchronize()


for _ in range(3):
    with capgate_marks.region("decode"), capgate_marks.bucket("bs=4"):
        x.add_(1)
        finish_layer()
        dynamic_part()
        checked()
torch.cuda.synchronize()
saw(x[0].item() == 3.0, "three eager steps")
