"""Shared by the scripts: which twin runs, replays, and the line a script says of itself."""

import sys

import torch

CLEAN = len(sys.argv) > 1 and sys.argv[1] == "clean"


def saw(as_meant, what):
    print(("as meant: " if as_meant else "NOT as meant: ") + what, flush=True)
    sys.exit(0 if as_meant else 1)


def warmed_up(step):
    """Three runs on a side stream, as the framework asks for before a capture."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()


def captured(step, **options):
    """The captured step and the reason why there is none."""
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph, **options):
            step()
    except RuntimeError as error:
        return None, str(error).splitlines()[0]
    return graph, None


def replayed(graph, times=3):
    for _ in range(times):
        graph.replay()
    torch.cuda.synchronize()
