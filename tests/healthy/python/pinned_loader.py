# A DataLoader with worker processes and a pin-memory thread feeds a captured step.
# CORPUS-TIMEOUT: 180
import torch


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.full((32,), float(index))


def main():
    batch = torch.zeros(8, 32, device="cuda")
    total = torch.zeros((), device="cuda")

    def step():
        total.add_(batch.sum())

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    for rows in torch.utils.data.DataLoader(Rows(), batch_size=8, num_workers=2, pin_memory=True):
        batch.copy_(rows, non_blocking=True)
        graph.replay()
    torch.cuda.synchronize()
    assert total.item() == 32 * sum(range(64))
    print("as meant: eight batches replayed")


if __name__ == "__main__":
    main()
