# A whole training step in one graph: forward, backward and the optimizer. Between replays the program allocates and drops
# tensors of all sizes, as data loading and logging do.
import torch

torch.manual_seed(0)
model = torch.nn.Sequential(
    torch.nn.Linear(64, 256), torch.nn.Dropout(0.1), torch.nn.ReLU(), torch.nn.Linear(256, 8)
).cuda()
loss_fn = torch.nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
static_x = torch.randn(32, 64, device="cuda")
static_y = torch.randint(8, (32,), device="cuda")


def step():
    optimizer.zero_grad(set_to_none=True)
    loss = loss_fn(model(static_x), static_y)
    loss.backward()
    optimizer.step()
    return loss


side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        step()
torch.cuda.current_stream().wait_stream(side)

graph = torch.cuda.CUDAGraph()
optimizer.zero_grad(set_to_none=True)
with torch.cuda.graph(graph):
    static_loss = step()

losses = []
for i in range(20):
    churn = [torch.empty(1 << (8 + (i + k) % 14), device="cuda") for k in range(12)]
    static_x.copy_(torch.randn(32, 64, device="cuda"))
    graph.replay()
    losses.append(static_loss.clone())
    del churn[::2]
torch.cuda.synchronize()
assert torch.isfinite(torch.stack(losses)).all().item()
print("as meant: twenty training steps from one graph")
