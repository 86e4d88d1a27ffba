# CuPy has no scope for a capture: an exception leaves it open, and the program dies of the exception. In the clean
# twin the same check passes.
# CORPUS-NEEDS: cupy
# EXPECT-VERDICT: fail inconclusive
import sys

import cupy

CLEAN = len(sys.argv) > 1 and sys.argv[1] == "clean"
x = cupy.zeros(4, dtype=cupy.float32)


def check(rows):
    if rows > 4:
        raise ValueError(f"{rows} rows do not fit in 4")  # EXPECT: capture-invalidated error check


def step(rows):
    cupy.add(x, 1.0, out=x)
    check(rows)


step(4)
cupy.cuda.Device().synchronize()
stream = cupy.cuda.Stream(non_blocking=True)
with stream:
    stream.begin_capture()
    step(4 if CLEAN else 5)
    graph = stream.end_capture()
    for _ in range(3):
        graph.launch(stream)
stream.synchronize()
print("three replays", flush=True)
sys.exit(0 if CLEAN and float(x[0]) == 4.0 else 1)
