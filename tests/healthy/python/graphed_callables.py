# Training through make_graphed_callables: forward and backward are graphs, the optimizer runs eagerly.
# CORPUS-TIMEOUT: 120
import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.Linear(64, 8)).cuda()
sample = torch.randn(16, 64, device="cuda")
target = torch.randn(16, 8, device="cuda")
graphed = torch.cuda.make_graphed_callables(model, (sample,))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(6):
    optimizer.zero_grad(set_to_none=True)
    loss = torch.nn.functional.mse_loss(graphed(sample), target)
    loss.backward()
    optimizer.step()
torch.cuda.synchronize()
assert torch.isfinite(loss).item()
print("as meant: six training steps through graphs")
