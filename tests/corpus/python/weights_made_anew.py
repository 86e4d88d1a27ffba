# A reload makes the weights anew where it should fill the old ones: the graph keeps the block of a tensor that nobody
# owns any more, and the next tensor of that size writes into it.
import torch

from _twins import CLEAN, captured, replayed, saw, warmed_up


class Model:
    def __init__(self):
        self.weight = torch.ones(1 << 20, device="cuda")

    def reload(self, value):
        fresh = torch.full((1 << 20,), value, device="cuda")
        if CLEAN:
            self.weight.copy_(fresh)
        else:
            self.weight = fresh  # EXPECT: freed-memory error reload


model = Model()
x = torch.ones(1 << 20, device="cuda")
out = torch.zeros(1 << 20, device="cuda")


def step():
    torch.add(x, model.weight, out=out)


warmed_up(step)
graph, _ = captured(step)
replayed(graph)
model.reload(2.0)
other = torch.full((1 << 20,), 5.0, device="cuda")
replayed(graph)
value = float(out[0])
saw(value == 3.0 if CLEAN else value != 3.0, f"the replay gave {value}")
