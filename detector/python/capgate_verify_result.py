"""What a verification comes to: its result, and the errors that it is raised with. A part of capgate_verify.py."""

import dataclasses
import math


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
