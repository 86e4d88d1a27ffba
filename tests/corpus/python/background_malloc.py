# A loader thread allocates a large tensor while the step is captured in the framework's default, global, mode.
# Public faults: pytorch/pytorch#104487, #104555.
import threading

import torch

from _twins import CLEAN, captured, replayed, saw, warmed_up

x = torch.zeros(4, device="cuda")
open_now, loaded = threading.Event(), threading.Event()


def load_shard():
    open_now.wait(30)
    try:
        torch.empty(1 << 28, dtype=torch.uint8, device="cuda")  # EXPECT: cross-thread-call error load_shard
    except RuntimeError as error:
        print("the loader:", str(error).splitlines()[0])
    finally:
        loaded.set()


def step():
    x.add_(1)


def step_beside_the_loader():
    step()
    open_now.set()
    loaded.wait(30)
    step()


loader = threading.Thread(target=load_shard)
loader.start()
warmed_up(step)
graph, error = captured(step_beside_the_loader, capture_error_mode="thread_local" if CLEAN else "global")
loader.join()
if graph is None:
    saw(not CLEAN, f"the capture died: {error}")
replayed(graph)
saw(CLEAN and x[0].item() == 9.0, "three replays")
