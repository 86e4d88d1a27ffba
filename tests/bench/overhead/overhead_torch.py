"""An eager PyTorch step, for the overhead of the audit: overhead_torch.py eager|region|both|serve. Prints one JSON line.

`both` takes marked and unmarked rounds in turn, so that what marking costs is seen within one process. `serve` reads one of the
other modes from each line of its input and runs it in a fork of itself: PyTorch is loaded once, CUDA is begun by each fork.
"""
import json
import os
import statistics
import sys
import time

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../detector/python"))
import capgate_marks as capgate  # noqa: E402

ROUNDS = 300


def resident_kb():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))


def fast_us(rounds):
    """The third fastest: what others on the machine took is not in it, and neither is a slip of the clock."""
    return sorted(rounds)[2] * 1e6


def measure(mode):
    torch.manual_seed(0)
    layers = [torch.nn.TransformerEncoderLayer(512, 8, 1024, dropout=0.0, batch_first=True).cuda().half().eval() for _ in range(4)]
    x = torch.randn(4, 16, 512, device="cuda", dtype=torch.half)

    @torch.no_grad()
    def step():
        y = x
        for layer in layers:
            y = y + layer.linear2(torch.relu(layer.linear1(layer.norm1(y))))
            y = y + layer.self_attn(y, y, y, need_weights=False)[0]
        return y.argmax(-1).to("cpu", non_blocking=False)

    def marked_step():
        with capgate.region("step"):
            step()

    def timed(work, into):
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        into.append(time.perf_counter() - start)

    for _ in range(50):
        step()
    torch.cuda.synchronize()
    marked, unmarked = [], []
    for _ in range(ROUNDS):
        if mode in ("eager", "both"):
            timed(step, unmarked)
        if mode in ("region", "both"):
            timed(marked_step, marked)
    result = {"us": fast_us(marked or unmarked), "rss_kb": resident_kb()}
    if mode == "both":
        result["unmarked_us"] = fast_us(unmarked)
        result["ratio"] = statistics.median(m / u for m, u in zip(marked, unmarked))
    print(json.dumps(result), flush=True)


def serve():
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            measure(line.strip())
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        if status != 0:
            sys.exit(f"a fork ended with status {status}")


if __name__ == "__main__":
    serve() if sys.argv[1] == "serve" else measure(sys.argv[1])
