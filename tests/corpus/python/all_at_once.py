# Twelve different faults in one marked eager step, each on its own line: one run has to name them all.
# CORPUS-AUDIT: --region step
import torch

from _twins import CLEAN, saw

x = torch.arange(8.0, device="cuda")
total = torch.zeros((), device="cuda")
pageable = torch.ones(8)
event = torch.cuda.Event()


def faulty_step():
    stream = torch.cuda.current_stream()
    total.add_(x.sum())
    event.record()
    while not event.query():  # EXPECT: host-poll error faulty_step
        pass
    stream.query()  # EXPECT: host-poll error faulty_step
    event.synchronize()  # EXPECT: host-sync error faulty_step
    stream.synchronize()  # EXPECT: host-sync error faulty_step
    torch.cuda.synchronize()  # EXPECT: host-sync error faulty_step
    total.item()  # EXPECT: host-sync error faulty_step may pageable-copy
    x.cpu()  # EXPECT: host-sync|pageable-copy error faulty_step
    bool((x > 100).any())  # EXPECT: host-sync error faulty_step may pageable-copy
    x[x > 3]  # EXPECT: host-sync error faulty_step may pageable-copy
    torch.nonzero(x)  # EXPECT: host-sync error faulty_step may pageable-copy
    torch.tensor([1.0, 2.0], device="cuda")  # EXPECT: host-sync|pageable-copy error faulty_step
    pageable.to("cuda", non_blocking=True)  # EXPECT: pageable-copy error faulty_step


def clean_step():
    total.add_(x.sum())
    event.record()
    torch.cuda.current_stream().wait_event(event)
    torch.where(x > 3, x, 0.0).sum()


for _ in range(3):
    with torch.cuda.nvtx.range("step"):
        clean_step() if CLEAN else faulty_step()
torch.cuda.synchronize()
saw(total.item() == 84.0, "three eager steps")
