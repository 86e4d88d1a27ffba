# CuPy: elementwise work on arrays that live as long as the graph, with arrays coming and going beside it.
# CORPUS-NEEDS: cupy
# CORPUS-TIMEOUT: 120
import cupy

x = cupy.zeros(1 << 16, dtype=cupy.float32)
weights = cupy.full(1 << 16, 2.0, dtype=cupy.float32)
stream = cupy.cuda.Stream(non_blocking=True)


def step():
    cupy.add(x, 1.0, out=x)
    cupy.multiply(x, weights, out=x)


with stream:
    step()
    stream.synchronize()
    x.fill(0)
    stream.begin_capture()
    step()
    graph = stream.end_capture()
    for i in range(20):
        churn = [cupy.empty(1 << (8 + (i + k) % 10), dtype=cupy.float32) for k in range(8)]
        graph.launch(stream)
        del churn
    stream.synchronize()
assert float(x[0]) > 0
print("as meant: twenty launches")
