"""Shows that a captured graph computes what the eager step computes, in one call that fits a unit test.

    from capgate_marks import verify_replay

    verify_replay(
        eager=step,                              # one step, eagerly: writes logits, or returns all outputs by name
        replay=graph.replay,                     # the program's own launch; without it the step is captured here
        load=lambda i: x.copy_(prompts[i]),      # puts input set i where the step reads it; or (i, step)
        outputs={"logits": logits},              # what the graph writes
        state={"cache": cache},                  # what a step leaves for the next one
    )

Every input set is run for `steps` consecutive steps, eagerly and by replay, from the same state. Outputs are filled before
each step, once with NaN and once with a large number, so that a value that nobody wrote is not taken for a result. Eager
steps are run twice to measure their noise. Then the free blocks of the allocator are filled, and all of it runs again: a
graph that lives on freed memory shows it there.

What passes is this and no more: this graph gave the eager results for these inputs, over these steps. Under `capgate audit`
it is evidence: the report names it, and holds it against the calls that were seen.

It consists of capgate_verify.py, capgate_verify_arrays.py, capgate_evidence.py and capgate_marks.py, side by side.
"""

import dataclasses
import inspect
import itertools
import math

from capgate_evidence import Evidence
from capgate_verify_arrays import POISONS, Torch, arrays_of

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
    kept: bool = False  # the element is what the output was filled with: the graph did not write it

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
    varied_sets: list = dataclasses.field(default_factory=list)  # whose eager outputs differ from those of set 0

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
    evidence = Evidence(name, inputs, steps)
    try:
        if inputs < 2:
            raise NothingVerified(f"{inputs} input set: a value that the graph has frozen is right for one. Give 2 or more")
        if steps < 3:
            raise NothingVerified(f"{steps} steps: what a step leaves for the next one shows from the third on. Give 3 or more")
        trial = _Trial(eager, replay, load, _named(outputs), _named(state), steps, tolerance, evidence)
        if replay is None:
            trial.capture()
        done = Verification(name, inputs, steps, [], [], {}, [], 0)
        trial.round(done, inputs, "as it was")
        if churn and done.ok:
            with trial.arrays.refilled_memory() as refilled:
                done.refilled_bytes = refilled
                if refilled:
                    trial.round(done, inputs, "refilled")
    except BaseException as error:
        evidence.stopped("nothing" if isinstance(error, NothingVerified) else "raised", error)
        raise
    evidence.end(done)
    if not done.ok:
        raise ReplayMismatch(done)
    return done


class _Trial:
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
        self.captured = _named(written)
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
            written = _named(launch()) or self.outputs
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
