"""An eager PyTorch step, for the overhead of the audit: overhead_torch.py eager|region. Prints one JSON line."""
import json
import os
import statistics
import sys
import time

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../detector/python"))
import capgate_marks as capgate  # noqa: E402


def resident_kb():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))


def main():
    marked = sys.argv[1] == "region"
    torch.manual_seed(0)
    layers = [torch.nn.TransformerEncoderLayer(512, 8, 1024, dropout=0.0, batch_first=True).cuda().half().eval()
              for _ in range(4)]
    x = torch.randn(4, 16, 512, device="cuda", dtype=torch.half)

    @torch.no_grad()
    def step():
        y = x
        for layer in layers:
            y = y + layer.linear2(torch.relu(layer.linear1(layer.norm1(y))))
            y = y + layer.self_attn(y, y, y, need_weights=False)[0]
        return y.argmax(-1).to("cpu", non_blocking=False)

    for _ in range(50):
        step()
    torch.cuda.synchronize()
    rounds = []
    for _ in range(300):
        start = time.perf_counter()
        if marked:
            with capgate.region("step"):
                step()
        else:
            step()
        torch.cuda.synchronize()
        rounds.append(time.perf_counter() - start)
    print(json.dumps({"us": statistics.quantiles(rounds, n=4)[0] * 1e6, "rss_kb": resident_kb()}))


main()
