"""Shows that a captured graph computes what the eager step computes, in one call that fits a unit test.

    from capgate_marks import verify_replay

    verify_replay(
        eager=lambda: model(x, cache),           # one step, eagerly; may return its outputs
        replay=graph.replay,                     # the program's own launch; without it the step is captured here
        load=lambda i: x.copy_(prompts[i]),      # puts input set i where the step reads it; or (i, step)
        outputs={"logits": logits},              # what the graph writes
        state={"cache": cache},                  # what a step leaves for the next one
    )

Every input set is run for `steps` consecutive steps, eagerly and by replay, from the same state. Outputs are filled before
each step, once with NaN and once with a large number, so that a value that nobody wrote is not taken for a result. Eager
steps are run twice to measure their noise. Then every free block of the allocator is filled, and all of it runs again: a
graph that lives on freed memory shows it there.

What passes is this and no more: this graph gave the eager results for these inputs, over these steps.
"""

import dataclasses
import inspect
import itertools
import math

__all__ = ["NothingVerified", "ReplayMismatch", "Verification", "verify_replay"]

# (relative, absolute) by the name of a dtype: what rounding in another order may change. torch.testing has the same.
_TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}
_POISONS = ("NaN", "a large number")
_LARGE = 2.0**14 - 8  # every float type down to 16 bits has it


class ReplayMismatch(AssertionError):
    """A replay gave another result than the eager step. `verification` holds all that was found."""

    def __init__(self, verification):
        super().__init__(str(verification))
        self.verification = verification


class NothingVerified(ValueError):
    """The call can prove nothing, whatever the graph does: the text says why, and what to change."""


@dataclasses.dataclass(frozen=True)
class Mismatch:
    """The first place where one output of one step differs."""

    what: str  # name of the output or of the part of the state
    input_set: int
    step: int  # from 0
    memory: str  # "as it was" or "refilled"
    index: int  # into the elements in row-major order
    eager: object
    replay: object
    elements: int  # that differ
    of: int
    largest: float  # difference; NaN where one of the two is no number
    allowed: float  # at this element

    def __str__(self):
        where = f"step {self.step + 1}, input set {self.input_set}"
        if self.memory != "as it was":
            where += ", after free memory was refilled"
        by = "some by no finite number" if math.isnan(self.largest) else f"by {self.largest:.3g} at most; {self.allowed:.3g} is allowed"
        return (
            f"{self.what} differs in {where}: element {self.index} is {self.replay!r}, eagerly {self.eager!r} "
            f"({self.elements} of {self.of} elements differ, {by})"
        )


@dataclasses.dataclass
class Verification:
    """What was run, and what differed."""

    name: str
    input_sets: int
    steps: int
    outputs: list
    mismatches: list
    noise: dict  # name -> largest difference of two eager runs
    unvaried: list  # outputs that no input set changed: nothing is proved about them
    refilled_bytes: int  # of free memory, before the second round; 0: the allocator shows no free blocks

    @property
    def ok(self):
        return not self.mismatches

    def __str__(self):
        if self.mismatches:
            more = len(self.mismatches) - 1
            tail = f"; {more} more" if more else ""
            return f"replay-mismatch in {self.name}: {self.mismatches[0]}{tail}"
        text = f"{self.name}: replays gave the eager results for {self.input_sets} input sets over {self.steps} consecutive steps"
        text += f", again after {self.refilled_bytes} bytes of free memory were refilled" if self.refilled_bytes else ""
        return text + (f"; no input set changed {', '.join(self.unvaried)}" if self.unvaried else "")


def verify_replay(eager, replay=None, *, load, outputs=None, state=None, inputs=2, steps=3, tolerance=None, churn=True, name="the step"):
    """Compares `steps` consecutive eager steps with as many replays, for input sets 0 to `inputs` - 1.

    eager      runs one step; if it returns arrays (one, or in lists and dicts), these are its outputs
    replay     launches the program's graph; if it returns arrays, these are its outputs. None: `eager` is captured (PyTorch)
    load       puts an input set where the step reads it, before every step: load(i) or load(i, step)
    outputs    arrays that both write, by name; needed where `eager` or `replay` returns none
    state      arrays that a step changes for the next one, by name: put back before each run, and compared as outputs are
    tolerance  (relative, absolute) in place of the dtype's own; the noise of the eager step is added
    churn      whether to do all of it again with the allocator's free blocks filled
    Arrays are PyTorch's, CuPy's or NumPy's.

    Returns a Verification. Raises ReplayMismatch, or NothingVerified where the call itself can prove nothing.
    """
    if inputs < 2:
        raise NothingVerified(f"{inputs} input set: a value that the graph has frozen is right for one. Give 2 or more")
    if steps < 3:
        raise NothingVerified(f"{steps} steps: what a step leaves for the next one shows from the third on. Give 3 or more")
    trial = _Trial(eager, replay, load, _named(outputs), _named(state), steps, tolerance)
    if replay is None:
        trial.capture()
    done = Verification(name, inputs, steps, [], [], {}, [], 0)
    trial.round(done, inputs, "as it was")
    if churn and done.ok:
        with trial.arrays.refilled_memory() as refilled:
            done.refilled_bytes = refilled
            if refilled:
                trial.round(done, inputs, "refilled")
    if not done.ok:
        raise ReplayMismatch(done)
    return done


class _Trial:
    """The program's step, its graph, and where both read and write."""

    def __init__(self, eager, replay, load, outputs, state, steps, tolerance):
        self.eager, self.replay = eager, replay
        self.outputs, self.state = outputs, state
        self.steps, self.tolerance = steps, tolerance
        self.captured = {}  # outputs of a graph that was captured here
        self.load = load if _takes_step(load) else lambda input_set, _: load(input_set)
        known = list(itertools.chain(outputs.values(), state.values()))
        self.arrays = _arrays_of(known[0]) if known else None
        self.begin = {name: self.arrays.copy(array) for name, array in state.items()} if state else {}

    def restore(self):
        for name, array in self.state.items():
            self.arrays.assign(array, self.begin[name])

    def capture(self):
        """Captures the eager step as PyTorch's documentation does: three runs on a side stream come first."""
        import torch

        self.arrays = self.arrays or _Torch(torch)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for step in range(3):
                self.load(0, step)
                self.eager()
        torch.cuda.current_stream().wait_stream(side)
        self.restore()
        self.load(0, 0)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            written = self.eager()
        self.captured = _named(written)
        self.restore()

        def replay():
            graph.replay()
            return self.captured or None

        self.replay = replay

    def run(self, launch, input_set, poison):
        """Copies of all outputs and of the state after each step: [{name: array}]."""
        self.restore()
        taken = []
        static = self.captured if launch is self.replay else {}
        for step in range(self.steps):
            self.load(input_set, step)
            for array in {**self.outputs, **static}.values():
                if not any(self.arrays.overlap(array, kept) for kept in self.state.values()):
                    self.arrays.poison(array, poison)
            self._wait()
            written = _named(launch()) or self.outputs
            self._wait()
            if not written and not self.state:
                raise NothingVerified("no output is known: name what the graph writes with outputs={'name': array}")
            if self.arrays is None:
                self.arrays = _arrays_of(next(iter(written.values())))
            taken.append({name: self.arrays.copy(array) for name, array in {**written, **self.state}.items()})
        return taken

    def _wait(self):
        """What this file does on its stream is ordered with the program's, whichever streams that has."""
        if self.arrays is not None:
            self.arrays.wait()

    def round(self, done, inputs, memory):
        first = None
        varied = set()
        for input_set in range(inputs):
            for poison in _POISONS:
                eager = self.run(self.eager, input_set, poison)
                again = self.run(self.eager, input_set, poison)
                replayed = self.run(self.replay, input_set, poison)
                self._same_names(eager, replayed)
                self._compare(done, eager, again, replayed, input_set, memory)
                if poison != _POISONS[0]:
                    continue
                if first is None:
                    first = eager
                else:
                    varied |= {
                        name
                        for step, other in zip(first, eager)
                        for name in step
                        if self.arrays.differences(step[name], other[name], 0.0, 0.0)
                    }
        done.outputs = sorted(first[0])
        if not varied:
            raise NothingVerified(
                f"the {inputs} input sets give the same eager outputs ({', '.join(done.outputs)}): a graph that ignores its inputs "
                "would pass. Let load(i) write other values for each i"
            )
        done.unvaried = sorted(set(done.outputs) - varied)
        self.restore()

    @staticmethod
    def _same_names(eager, replayed):
        if set(eager[0]) != set(replayed[0]):
            raise NothingVerified(
                f"the eager step gives {', '.join(sorted(eager[0]))}, the replay {', '.join(sorted(replayed[0]))}: "
                "return the same outputs from both, or name them with outputs="
            )

    def _compare(self, done, eager, again, replayed, input_set, memory):
        for step in range(self.steps):
            for what, expected in eager[step].items():
                noise = self.arrays.noise(expected, again[step][what])
                done.noise[what] = max(done.noise.get(what, 0.0), noise)
                relative, absolute = self.tolerance or _TOLERANCES.get(self.arrays.dtype(expected), (0.0, 0.0))
                absolute += 2 * noise
                found = self.arrays.differences(expected, replayed[step][what], relative, absolute)
                if not found or any(m.what == what and m.input_set == input_set and m.memory == memory for m in done.mismatches):
                    continue
                index, of_eager, of_replay, elements, of, largest = found
                allowed = absolute + relative * abs(of_eager) if _is_finite(of_eager) else absolute
                done.mismatches.append(Mismatch(what, input_set, step, memory, index, of_eager, of_replay, elements, of, largest, allowed))


def _is_finite(value):
    return isinstance(value, (int, float)) and math.isfinite(value)


def _takes_step(load):
    try:
        wanted = inspect.signature(load).parameters.values()
    except (TypeError, ValueError):
        return False
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty for p in wanted) >= 2


def _named(value, prefix="output"):
    """{name: array} of what a step returns: an array, or lists, tuples and dicts of them."""
    if value is None:
        return {}
    if hasattr(value, "items"):
        parts = [(str(key) if prefix == "output" else f"{prefix}.{key}", part) for key, part in value.items()]
    elif isinstance(value, (list, tuple)):
        parts = [(f"{prefix}[{i}]", part) for i, part in enumerate(value)]
    elif hasattr(value, "dtype"):
        return {prefix: value}
    else:
        return {}  # numbers, texts and the like are the host's own
    return {name: array for key, part in parts for name, array in _named(part, key).items()}


def _arrays_of(array):
    """How to handle arrays of the library that `array` is of."""
    library = type(array).__module__.split(".")[0]
    if library == "torch" or hasattr(array, "untyped_storage"):
        import torch

        return _Torch(torch)
    return _NumPy(array)


class _Torch:
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

    def poison(self, array, kind):
        with self.torch.no_grad():
            if array.dtype == self.torch.bool:
                array.fill_(kind == _POISONS[0])
            elif array.is_floating_point() or array.is_complex():
                array.fill_(math.nan if kind == _POISONS[0] else _LARGE)
            else:
                array.fill_(self.torch.iinfo(array.dtype).max - (0 if kind == _POISONS[0] else 17))

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


class _NumPy:
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

    def poison(self, array, kind):
        first = kind == _POISONS[0]
        if array.dtype.kind in "fc":
            array.fill(math.nan if first else _LARGE)
        elif array.dtype.kind == "b":
            array.fill(first)
        else:
            array.fill(0x7F if first else 0x55)

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
