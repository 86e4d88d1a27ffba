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

It consists of the files capgate_verify*.py, capgate_evidence.py and capgate_marks.py, side by side.
"""

from capgate_evidence import Evidence
from capgate_verify_result import NothingVerified, ReplayMismatch, Verification
from capgate_verify_trial import Trial, named

__all__ = ["NothingVerified", "ReplayMismatch", "Verification", "verify_replay"]


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
        trial = Trial(eager, replay, load, named(outputs), named(state), steps, tolerance, evidence)
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
