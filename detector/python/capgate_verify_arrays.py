"""The arrays that capgate_verify fills, copies and compares: PyTorch's, CuPy's and NumPy's. A part of capgate_verify.py."""

import math

__all__ = ["POISONS", "NumPy", "Torch", "arrays_of"]

POISONS = ("NaN", "a large number")
_LARGE = 2.0**14 - 8  # every float type down to 16 bits has it


def arrays_of(array):
    """How to handle arrays of the library that `array` is of."""
    library = type(array).__module__.split(".")[0]
    if library == "torch" or hasattr(array, "untyped_storage"):
        import torch

        return Torch(torch)
    return NumPy(array)


class Torch:
    def __init__(self, torch):
        self.torch = torch

    def wait(self):
        if self.torch.cuda.is_available():
            self.torch.cuda.synchronize()

    def dtype(self, array):
        return str(array.dtype).rpartition(".")[2]

    def copy(self, array):
        return array.detach().clone()

    def assign(self, array, saved):
        with self.torch.no_grad():
            array.copy_(saved)

    def overlap(self, one, other):
        return one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()

    def filling(self, array, kind):
        """What `kind` fills the array with."""
        if array.dtype == self.torch.bool:
            return kind == POISONS[0]
        if array.is_floating_point() or array.is_complex():
            return math.nan if kind == POISONS[0] else _LARGE
        return self.torch.iinfo(array.dtype).max - (0 if kind == POISONS[0] else 17)

    def poison(self, array, kind):
        with self.torch.no_grad():
            array.fill_(self.filling(array, kind))

    def place(self, array):
        """(address, bytes, how `copy` copies them: by CUDA's copy, by a kernel, on the host)."""
        size = array.numel() * array.element_size()
        if array.device.type != "cuda":
            return array.data_ptr(), size, "host"
        return array.data_ptr(), size, "copy" if array.is_contiguous() else "kernel"

    def _wide(self, array):
        return array.to(self.torch.complex128 if array.is_complex() else self.torch.float64).reshape(-1)

    def noise(self, one, other):
        if not (one.is_floating_point() or one.is_complex()) or one.numel() == 0:
            return 0.0
        difference = (self._wide(one) - self._wide(other)).abs()
        return self.torch.nan_to_num(difference, nan=0.0, posinf=0.0).max().item()

    def differences(self, expected, found, relative, absolute):
        torch = self.torch
        if expected.shape != found.shape or expected.dtype != found.dtype:
            return 0, f"{self.dtype(expected)}{list(expected.shape)}", f"{self.dtype(found)}{list(found.shape)}", 1, 1, math.nan
        if expected.numel() == 0:
            return None
        a, b = expected.reshape(-1), found.reshape(-1)
        if expected.is_floating_point() or expected.is_complex():
            a, b = self._wide(a), self._wide(b)
            # Two NaN are equal, so are two infinities of one sign.
            differ = ~((a == b) | (a.isnan() & b.isnan()) | ((a - b).abs() <= absolute + relative * a.abs()))
            differ |= a.isinf() & (a != b)
        else:
            differ = a != b
        count = int(differ.sum().item())
        if count == 0:
            return None
        index = int(differ.to(torch.uint8).argmax().item())
        largest = (self._wide(a) - self._wide(b)).abs()[differ].max().item()
        return index, a[index].item(), b[index].item(), count, a.numel(), largest

    def refilled_memory(self):
        return _RefilledTorchMemory(self.torch)


class _RefilledTorchMemory:
    """Takes every free block of the caching allocator, writes over it, and keeps it for the scope. Pools that belong to
    graphs are left alone: a free block there is the graph's own."""

    def __init__(self, torch):
        self.torch = torch
        self.blocks = []

    def __enter__(self):
        torch = self.torch
        if not torch.cuda.is_available() or torch.cuda.get_allocator_backend() != "native":
            return 0
        taken = 0
        for segment in torch.cuda.memory_snapshot():
            if tuple(segment.get("segment_pool_id", (0, 0))) != (0, 0):
                continue
            device, stream = segment["device"], segment["stream"]
            free = [block["size"] for block in segment["blocks"] if block["state"] == "inactive"]
            with torch.cuda.device(device), torch.cuda.stream(_stream_at(torch, device, stream)):
                for size in sorted(free, reverse=True):
                    before = torch.cuda.memory_reserved(device)
                    block = torch.full((size,), 0xFF, dtype=torch.uint8, device=f"cuda:{device}")
                    if torch.cuda.memory_reserved(device) > before:
                        continue  # not from a free block; it is given back at once
                    self.blocks.append(block)
                    taken += size
            torch.cuda.synchronize(device)
        return taken

    def __exit__(self, *_):
        self.blocks.clear()


def _stream_at(torch, device, handle):
    return torch.cuda.ExternalStream(handle, device=device) if handle else torch.cuda.default_stream(device)


class NumPy:
    """NumPy's and CuPy's arrays."""

    def __init__(self, array):
        self.cupy = type(array).__module__.split(".")[0] == "cupy"

    def wait(self):
        if self.cupy:
            import cupy

            cupy.cuda.runtime.deviceSynchronize()

    def _host(self, array):
        return array.get() if self.cupy else array

    def dtype(self, array):
        return str(array.dtype)

    def copy(self, array):
        return array.copy()

    def assign(self, array, saved):
        array[...] = saved

    def overlap(self, one, other):
        def span(array):
            begin = array.data.ptr if self.cupy else array.__array_interface__["data"][0]
            return begin, begin + array.nbytes

        (a, b), (c, d) = span(one), span(other)
        return a < d and c < b

    def filling(self, array, kind):
        first = kind == POISONS[0]
        if array.dtype.kind in "fc":
            return math.nan if first else _LARGE
        return first if array.dtype.kind == "b" else 0x7F if first else 0x55

    def poison(self, array, kind):
        array.fill(self.filling(array, kind))

    def place(self, array):
        if not self.cupy:
            return array.__array_interface__["data"][0], array.nbytes, "host"
        return array.data.ptr, array.nbytes, "kernel"  # CuPy copies contiguous arrays by kernels, too

    def _values(self, array):
        return self._host(array).ravel().tolist()

    def noise(self, one, other):
        if one.dtype.kind not in "fc":
            return 0.0
        both = (abs(a - b) for a, b in zip(self._values(one), self._values(other)))
        return max((difference for difference in both if math.isfinite(difference)), default=0.0)

    def differences(self, expected, found, relative, absolute):
        if expected.shape != found.shape or expected.dtype != found.dtype:
            return 0, f"{expected.dtype}{list(expected.shape)}", f"{found.dtype}{list(found.shape)}", 1, 1, math.nan
        exact = expected.dtype.kind not in "fc"
        index, count, largest, of = None, 0, 0.0, 0
        first = (None, None)
        for i, (a, b) in enumerate(zip(self._values(expected), self._values(found))):
            of += 1
            if a == b or (a != a and b != b):
                continue
            difference = abs(a - b)
            if not exact and difference <= absolute + relative * abs(a) and math.isfinite(abs(a)):
                continue
            if index is None:
                index, first = i, (a, b)
            count += 1
            largest = max(largest, difference) if difference == difference else math.nan
        return None if index is None else (index, *first, count, of, largest)

    def refilled_memory(self):
        return _RefilledCuPyMemory() if self.cupy else _NoMemory()


class _NoMemory:
    def __enter__(self):
        return 0

    def __exit__(self, *_):
        pass


class _RefilledCuPyMemory:
    """As PyTorch's. CuPy does not list its free blocks, so sizes are tried from all that is free downwards; what had to come
    from the device instead is kept beside them for the scope."""

    def __enter__(self):
        import cupy

        self.blocks = []
        pool = cupy.get_default_memory_pool()
        size, taken = pool.free_bytes(), 0
        while size >= 512:
            before = pool.total_bytes()
            try:
                self.blocks.append(cupy.full((size,), 0xFF, dtype=cupy.uint8))
            except cupy.cuda.memory.OutOfMemoryError:
                size //= 2
                continue
            if pool.total_bytes() > before:
                size //= 2
            else:
                taken += size
                size = min(size, pool.free_bytes())
        cupy.cuda.runtime.deviceSynchronize()
        return taken

    def __exit__(self, *_):
        self.blocks.clear()
