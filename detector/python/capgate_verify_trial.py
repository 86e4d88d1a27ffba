"""Runs the eager step and the graph, and compares what both wrote. A part of capgate_verify.py."""

import inspect
import itertools
import math

from capgate_verify_arrays import POISONS, Torch, arrays_of
from capgate_verify_result import Mismatch, NothingVerified

# (relative, absolute) by the name of a dtype: what rounding in another order may change. torch.testing has the same.
_TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}


class Trial:
    """The program's step, its graph, and where both read and write."""

    def __init__(self, eager, replay, load, outputs, state, steps, tolerance, evidence):
        self.eager, self.replay = eager, replay
        self.outputs, self.state = outputs, state
        self.steps, self.tolerance, self.evidence = steps, tolerance, evidence
        self.captured = {}  # outputs of a graph that was captured here
        self.load = load if _takes_step(load) else lambda input_set, _: load(input_set)
        known = list(itertools.chain(outputs.values(), state.values()))
        self.arrays = arrays_of(known[0]) if known else None
        self.begin = {name: self.arrays.copy(array) for name, array in state.items()} if state else {}

    def restore(self):
        for name, array in self.state.items():
            self.arrays.assign(array, self.begin[name])

    def capture(self):
        """Captures the eager step as PyTorch's documentation does: three runs on a side stream come first."""
        import torch

        self.arrays = self.arrays or Torch(torch)
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
        self.captured = named(written)
        self.restore()

        def replay():
            graph.replay()
            return self.captured or None

        self.replay = replay

    def run(self, what, input_set, poison, memory):
        """Copies of all outputs and of the state after each step: [{name: array}]. `what`: eager or replay."""
        self.restore()
        taken = []
        launch = self.replay if what == "replay" else self.eager
        static = self.captured if what == "replay" else {}
        for step in range(self.steps):
            self.evidence.load(what, input_set, step, POISONS.index(poison), memory)
            self.load(input_set, step)
            self.evidence.enter("fill")
            for array in {**self.outputs, **static}.values():
                if not any(self.arrays.overlap(array, kept) for kept in self.state.values()):
                    self.arrays.poison(array, poison)
            self._wait()
            self.evidence.enter("launch")
            written = named(launch()) or self.outputs
            self._wait()
            if not written and not self.state:
                raise NothingVerified("no output is known: name what the graph writes with outputs={'name': array}")
            if self.arrays is None:
                self.arrays = arrays_of(next(iter(written.values())))
            if what == "replay":
                self.evidence.outputs(self.arrays, written, self.state)
            self.evidence.enter("read")
            taken.append({name: self.arrays.copy(array) for name, array in {**written, **self.state}.items()})
        return taken

    def _wait(self):
        """What this file does on its stream is ordered with the program's, whichever streams that has."""
        if self.arrays is not None:
            self.arrays.wait()

    def round(self, done, inputs, memory):
        first = None
        varied = set()
        done.varied_sets = []
        for input_set in range(inputs):
            for poison in POISONS:
                eager = self.run("eager", input_set, poison, memory)
                again = self.run("eager", input_set, poison, memory)
                replayed = self.run("replay", input_set, poison, memory)
                self._same_names(eager, replayed)
                self._compare(done, eager, again, replayed, input_set, poison, memory)
                if poison != POISONS[0]:
                    continue
                if first is None:
                    first = eager
                else:
                    # Noise is no other input.
                    differ = {
                        name
                        for step, other in zip(first, eager)
                        for name in step
                        if self.arrays.differences(step[name], other[name], 0.0, 2 * done.noise[name])
                    }
                    varied |= differ
                    if differ:
                        done.varied_sets.append(input_set)
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

    def _compare(self, done, eager, again, replayed, input_set, poison, memory):
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
                filling = self.arrays.filling(expected, poison)
                kept = of_replay == filling or (of_replay != of_replay and filling != filling)
                mismatch = Mismatch(what, input_set, step, memory, index, of_eager, of_replay, elements, of, largest, allowed, kept)
                self.evidence.differs(mismatch, POISONS.index(poison), what in self.state)
                done.mismatches.append(mismatch)


def _is_finite(value):
    return isinstance(value, (int, float)) and math.isfinite(value)


def _takes_step(load):
    try:
        wanted = inspect.signature(load).parameters.values()
    except (TypeError, ValueError):
        return False
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty for p in wanted) >= 2


def named(value, prefix="output"):
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
    return {name: array for key, part in parts for name, array in named(part, key).items()}
