"""Tell capgate what your program is doing: capgate.h for Python, in one file to import or to copy.

    import capgate_marks as capgate

    with capgate.region("decode"):          # one decode step, judged as if it were captured
        step()
    with capgate.bucket("bs=8"):            # captures begun in here belong to this bucket
        ...
    with capgate.eager_break("moe"):        # the dynamic part that a piecewise step leaves uncaptured on purpose
        ...
    with capgate.allow("host-sync", "the sampler reads one token"):
        ...
    capgate.set_bucket("bs=8")              # until the next call; None: no bucket
    capgate.subject("config_digest", d)     # facts about what is judged, for the gate to compare
    capgate.audited()                       # True while capgate watches this process
    capgate.verify_replay(...)              # shows that replays give the eager results: capgate_verify.py, beside this file

Each scope also decorates a function. When nobody audits the program all of this does nothing.
"""

import contextlib
import ctypes
import os

__all__ = [
    "allow",
    "allow_begin",
    "allow_end",
    "audited",
    "bucket",
    "bucket_begin",
    "bucket_end",
    "eager_break",
    "eager_break_begin",
    "eager_break_end",
    "region",
    "region_begin",
    "region_end",
    "set_bucket",
    "subject",
    "verify_replay",
]

(
    _PROBE,
    _REGION_BEGIN,
    _REGION_END,
    _BUCKET_SET,
    _BUCKET_BEGIN,
    _BUCKET_END,
    _BREAK_BEGIN,
    _BREAK_END,
    _ALLOW_BEGIN,
    _ALLOW_END,
    _SUBJECT,
    _VERIFY_BEGIN,
    _VERIFY_STEP,
    _VERIFY_OUTPUT,
    _VERIFY_DIFFERS,
    _VERIFY_END,
) = range(16)

_hook = None
_absent = False


def _find():
    global _hook, _absent
    for path, mode in ((None, 0), (os.environ.get("CAPGATE_PRELOAD"), os.RTLD_NOW | getattr(os, "RTLD_NOLOAD", 4))):
        if path == "" or (path is None and mode):
            continue
        try:
            _hook = ctypes.CDLL(path, mode=mode or ctypes.DEFAULT_MODE).capgate_hook_v1
        except (OSError, AttributeError):
            continue
        _hook.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)
        _hook.restype = ctypes.c_int
        return
    # An injected library can still come; without one announced, nobody asks again.
    _absent = not os.environ.get("CAPGATE_PRELOAD")


def _call(op, a=None, b=None):
    if _hook is None:
        if not _absent:
            _find()
        if _hook is None:
            return 0
    return _hook(op, None if a is None else str(a).encode(), None if b is None else str(b).encode())


def audited():
    """Whether capgate watches this process."""
    return bool(_call(_PROBE))


def region_begin(name):
    _call(_REGION_BEGIN, name)


def region_end():
    _call(_REGION_END)


def set_bucket(name):
    """Captures begun on this thread from now on belong to bucket `name`; None: to none."""
    _call(_BUCKET_SET, name)


def bucket_begin(name):
    _call(_BUCKET_BEGIN, name)


def bucket_end():
    _call(_BUCKET_END)


def eager_break_begin(name):
    _call(_BREAK_BEGIN, name)


def eager_break_end():
    _call(_BREAK_END)


def allow_begin(rule, reason):
    _call(_ALLOW_BEGIN, rule, reason)


def allow_end():
    _call(_ALLOW_END)


def subject(key, value):
    """A fact about what is judged, for the gate to compare."""
    _call(_SUBJECT, key, value)


@contextlib.contextmanager
def region(name):
    """One step, judged as if it were captured."""
    region_begin(name)
    try:
        yield
    finally:
        region_end()


@contextlib.contextmanager
def bucket(name):
    """Captures begun in this scope belong to bucket `name`."""
    bucket_begin(name)
    try:
        yield
    finally:
        bucket_end()


@contextlib.contextmanager
def eager_break(name):
    """What a piecewise step leaves uncaptured on purpose."""
    eager_break_begin(name)
    try:
        yield
    finally:
        eager_break_end()


@contextlib.contextmanager
def allow(rule, reason):
    """What this thread does in this scope is suppressed for `rule`; say why."""
    allow_begin(rule, reason)
    try:
        yield
    finally:
        allow_end()


def verify_replay(*arguments, **options):
    """See capgate_verify.verify_replay. It works in a process that nobody audits, too."""
    from capgate_verify import verify_replay as verify

    return verify(*arguments, **options)
