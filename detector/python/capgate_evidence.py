"""What capgate_verify tells an audit of a verification: a claim that the audit holds against the calls that it saw.

A part of capgate_verify.py; nothing here is for programs to call. Without an audit it does nothing.
"""

import capgate_marks

__all__ = ["Evidence"]


def _text(facts):
    return " ".join(f"{key}={str(value).replace(' ', '')}" for key, value in facts.items())


class Evidence:
    def __init__(self, name, inputs, steps):
        self.wanted = capgate_marks.audited()
        self.told = {}  # output -> the facts that were told last
        self._send(capgate_marks._VERIFY_BEGIN, name, inputs=inputs, steps=steps)

    def _send(self, op, name, why=None, **facts):
        if not self.wanted:
            return
        text = _text(facts)
        if why is not None:
            text = f"{text} why={why}" if text else f"why={why}"
        capgate_marks._call(op, name, text)

    def load(self, run, input_set, step, filling, memory):
        self._send(
            capgate_marks._VERIFY_STEP, "load", run=run, set=input_set, step=step, filling=filling, refilled=int(memory != "as it was")
        )

    def enter(self, phase):
        self._send(capgate_marks._VERIFY_STEP, phase)

    def outputs(self, arrays, written, state):
        """Where the arrays lie whose copies are compared."""
        if not self.wanted:
            return
        for name, array in {**written, **state}.items():
            address, size, by = arrays.place(array)
            facts = dict(address=hex(address), bytes=size, by=by, state=int(name in state))
            if self.told.get(name) != facts:
                self.told[name] = facts
                self._send(capgate_marks._VERIFY_OUTPUT, name, **facts)

    def differs(self, mismatch, filling, state):
        self._send(
            capgate_marks._VERIFY_DIFFERS, mismatch.what, set=mismatch.input_set, step=mismatch.step, filling=filling,
            refilled=int(mismatch.memory != "as it was"), index=mismatch.index, eager=mismatch.eager, replay=mismatch.replay,
            elements=mismatch.elements, of=mismatch.of, largest=mismatch.largest, allowed=mismatch.allowed,
            kept=int(mismatch.kept), state=int(state),
        )  # fmt: skip

    def stopped(self, result, error):
        """Before it came to an end: the call could prove nothing, or the program's own code raised something."""
        words = str(error) if result == "nothing" else f"{type(error).__name__}: {error}"
        self._send(capgate_marks._VERIFY_END, result, why=" ".join(words.split())[:500])

    def end(self, done):
        for name in done.outputs:
            self._send(capgate_marks._VERIFY_OUTPUT, name, noise=done.noise.get(name, 0.0), varied=int(name not in done.unvaried))
        varied = ",".join(str(input_set) for input_set in done.varied_sets)
        self._send(capgate_marks._VERIFY_END, "equal" if done.ok else "differs", refilled=done.refilled_bytes, varied=varied)
