"""Ctrl-C in the scripts beside this file: what a script started has ended before the script does."""

import contextlib
import signal
import subprocess
import threading
import time

GRACE = 20  # seconds for a program that heard the terminal's Ctrl-C as well


@contextlib.contextmanager
def held_back():
    """Raises KeyboardInterrupt at the end of the block instead of anywhere in it: never between the start of a program and the line
    that remembers it. Yields a list, empty until the interrupt, then with its time.

    Whatever waits in the block needs a time limit, and looks at the list again: a signal that arrives just before a wait begins
    does not end it."""
    arrived = []
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN or threading.current_thread() is not threading.main_thread():
        yield arrived  # it is ignored on purpose, or raised elsewhere
        return
    signal.signal(signal.SIGINT, lambda *_: arrived.append(time.monotonic()))
    try:
        yield arrived
    finally:
        signal.signal(signal.SIGINT, before)
    if arrived:
        raise KeyboardInterrupt


def run(*words, check=False, **options):
    """subprocess.run of a program in the terminal's group, which therefore hears a Ctrl-C itself: an interrupt is raised once it
    has ended."""
    command = [*map(str, words)]
    with held_back() as interrupted, subprocess.Popen(command, **options) as process:
        while True:
            try:
                out, err = process.communicate(timeout=0.2)
                break
            except subprocess.TimeoutExpired:
                if interrupted and time.monotonic() - interrupted[0] > GRACE:
                    process.kill()
    if check and process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, out, err)
    return subprocess.CompletedProcess(command, process.returncode, out, err)
