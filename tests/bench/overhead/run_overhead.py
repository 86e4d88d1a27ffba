#!/usr/bin/env python3
"""What the audit costs the program, as ratios measured in one run.

    run_overhead.py --library libcapgate_preload.so --program overhead [--pairs 12] [--json FILE] [--check]
    run_overhead.py --library libcapgate_preload.so --breakdown [--also NAME=LIBRARY…] [--seconds 150]

Each pair is one process with the library and one without, in turn and on the same four cores, so that a drift of the clock
hits both; a process gives the lower quartile of its rounds. The speed of PyTorch's host thread differs from process to process
by more than what is measured, so the cases of PyTorch take eight times as many pairs: two servers have loaded PyTorch, one with the
library and one without, and fork a process for each measurement. Prints the
median ratio of each case with an interval of 95 % (of the median, from the pairs' order statistics), the limit, and the
memory that the library adds. --check: exit 1 when a median is above its limit.

--breakdown: what the marked PyTorch step pays for, each part left out in turn (CAPGATE_WITHOUT), one process each; within
a process marked and unmarked rounds take turns. What does not fit into --seconds is left out, the last lines first.
"""
import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

# case: (arguments of the C++ program or of the script, limit of the ratio, what it is)
CASES = {
    "launch": ("program", ["launch"], 1.10, "kernel launch outside regions"),
    "replay": ("program", ["replay"], 1.03, "replay of a graph of 500 kernels"),
    "step": ("program", ["step"], 1.50, "marked step of 500 kernels of 5 us"),
    "region": ("program", ["region"], None, "marked step of 500 empty kernels (worst case)"),
    "torch": ("script", ["eager"], 1.05, "PyTorch eager step"),
    "torch-region": ("script", ["region"], 1.50, "PyTorch eager step, marked"),
}
MEMORY_LIMIT_MB = 64

# What is left out, most telling first; None: no library at all.
PARTS = [
    ("no library", None),
    ("everything", ""),
    ("without callbacks", "callbacks"),
    ("without our own work", "calls"),
    ("without stacks", "native-stacks,python-stacks"),
    ("without native stacks", "native-stacks"),
    ("without Python stacks", "python-stacks"),
    ("without operand kinds", "operand-kinds"),
    ("each stack read anew", "known-stacks"),
]


def keep_to_four_cores():
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-4:])


def environment(library, trace, without=""):
    env = dict(os.environ)
    for name in ("LD_PRELOAD", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"):
        env.pop(name, None)
    if library:
        env.update(
            LD_PRELOAD=library,
            CUDA_INJECTION64_PATH=library,
            NVTX_INJECTION64_PATH=library,
            CAPGATE_PRELOAD=library,
            CAPGATE_TRACE_DIR=trace,
            CAPGATE_WITHOUT=without,
        )
    return env


def run(command, library, trace, without=""):
    env = environment(library, trace, without)
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, preexec_fn=keep_to_four_cores)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()[-400:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


class Programs:
    """A process for each measurement."""

    def __init__(self, command, library, trace):
        self.command, self.trace = command, trace
        self.run(None)  # warms the file cache
        self.pairs = 1

    def run(self, library):
        return run(self.command, library, self.trace)

    def close(self):
        pass


class Forks:
    """Two servers, with the library and without, that fork for each measurement."""

    def __init__(self, script, mode, library, trace):
        self.mode = mode
        self.pairs = 8
        self.servers = {
            which: subprocess.Popen(
                [sys.executable, script, "serve"],
                env=environment(which, trace),
                text=True,
                preexec_fn=keep_to_four_cores,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            for which in (None, library)
        }
        for which in self.servers:
            self.run(which)

    def run(self, library):
        server = self.servers[library]
        try:
            print(self.mode, file=server.stdin, flush=True)
        except BrokenPipeError:
            pass
        line = server.stdout.readline()
        if not line:
            raise RuntimeError(f"the PyTorch step ended with {server.wait()}: {server.stderr.read().strip()[-400:]}")
        return json.loads(line)

    def close(self):
        for server in self.servers.values():
            server.communicate()


def median_interval(values):
    """The median and the order statistics that hold it with 95 % (binomial)."""
    values = sorted(values)
    n = len(values)
    low = 0
    while low + 1 < n / 2 and sum(math.comb(n, i) for i in range(low + 2)) / 2**n <= 0.025:
        low += 1
    return statistics.median(values), values[low], values[n - 1 - low]


def measure(make, library, pairs):
    """`make`: from a folder for traces to what runs the case."""
    ratios, plain_us, audited_us, added_mb = [], [], [], []
    trace = tempfile.mkdtemp(prefix="capgate-overhead-")
    case = None
    try:
        case = make(trace)
        pairs *= case.pairs
        for i in range(pairs):
            order = (None, library) if i % 2 == 0 else (library, None)
            results = {which: case.run(which) for which in order}
            ratios.append(results[library]["us"] / results[None]["us"])
            plain_us.append(results[None]["us"])
            audited_us.append(results[library]["us"])
            added_mb.append((results[library]["rss_kb"] - results[None]["rss_kb"]) / 1024)
            for name in os.listdir(trace):
                os.unlink(os.path.join(trace, name))
    finally:
        if case is not None:
            case.close()
        shutil.rmtree(trace, ignore_errors=True)
    median, low, high = median_interval(ratios)
    return {
        "ratio": median,
        "low": low,
        "high": high,
        "plain_us": statistics.median(plain_us),
        "audited_us": statistics.median(audited_us),
        "added_mb": statistics.median(added_mb),
        "pairs": pairs,
    }


def trace_bytes(folder):
    """What the processes wrote into the trace's folder, which is emptied."""
    total = 0
    for name in os.listdir(folder):
        total += os.path.getsize(os.path.join(folder, name))
        os.unlink(os.path.join(folder, name))
    return total


def breakdown(script, library, also, seconds):
    """Prints a line for each part that is left out; gives them back by name."""
    start = time.monotonic()
    folders = [("", tempfile.mkdtemp(prefix="capgate-overhead-"))]
    if os.path.isdir("/dev/shm"):
        folders.append(("in memory", tempfile.mkdtemp(prefix="capgate-overhead-", dir="/dev/shm")))
    runs = [(name, None if without is None else library, without or "", folders[0][1]) for name, without in PARTS]
    runs[2:2] = [(name, os.path.abspath(path), "", folders[0][1]) for name, path in also]
    runs += [("everything, the trace " + name, library, "", folder) for name, folder in folders[1:]]
    runs += [("no library, again", None, "", folders[0][1]), ("everything, again", library, "", folders[0][1])]
    results = {}
    print(f"{'':<28}{'unmarked us':>12}{'marked us':>11}{'marked/unmarked':>17}{'marked/no library':>19}{'trace KiB':>11}")
    try:
        longest = 0
        for name, which, without, folder in runs:
            if time.monotonic() - start + longest > seconds:
                print(f"{name:<28}{'left out for want of time':>29}")
                continue
            begun = time.monotonic()
            result = run([sys.executable, script, "both"], which, folder, without)
            longest = max(longest, time.monotonic() - begun)
            result["trace_kib"] = trace_bytes(folder) / 1024
            results[name] = result
            plain = results["no library"]["us"]
            print(
                f"{name:<28}{result['unmarked_us']:>12.1f}{result['us']:>11.1f}{result['ratio']:>17.3f}"
                f"{result['us'] / plain:>19.3f}{result['trace_kib']:>11.0f}",
                flush=True,
            )
    finally:
        for _, folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
    return results


def named_library(text):
    name, _, path = text.partition("=")
    if not path:
        raise argparse.ArgumentTypeError("NAME=LIBRARY is wanted")
    return name, path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True)
    parser.add_argument("--program", help="the built tests/bench/overhead/overhead.cu")
    parser.add_argument("--cases", default="", help="comma-separated; default: all that can run")
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--json")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--breakdown", action="store_true")
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        type=named_library,
        metavar="NAME=LIBRARY",
        help="another build of the library to compare with",
    )
    parser.add_argument("--seconds", type=float, default=150)
    options = parser.parse_args()
    library = os.path.abspath(options.library)
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "overhead_torch.py")
    wanted = options.cases.split(",") if options.cases else list(CASES)
    if options.breakdown:
        results = breakdown(script, library, options.also, options.seconds)
        if options.json:
            with open(options.json, "w") as file:
                json.dump(results, file, indent=1)
        return 0
    has_torch = subprocess.run([sys.executable, "-c", "import torch"], capture_output=True).returncode == 0
    report, bad = {}, []
    print(f"{'case':<14}{'ratio':>8}  {'95 % of the median':<20}{'limit':>7}{'plain us':>12}{'audited us':>12}{'+MiB':>8}")
    for name in wanted:
        kind, arguments, limit, text = CASES[name]
        if kind == "program" and not options.program:
            continue
        if kind == "script" and not has_torch:
            print(f"{name:<14} skipped: this Python has no torch")
            continue
        if kind == "program":
            command = [os.path.abspath(options.program)] + arguments
            result = measure(lambda trace, command=command: Programs(command, library, trace), library, options.pairs)
        else:
            mode = arguments[0]
            result = measure(lambda trace, mode=mode: Forks(script, mode, library, trace), library, options.pairs)
        result["limit"] = limit
        result["what"] = text
        report[name] = result
        print(
            f"{name:<14}{result['ratio']:>8.3f}  {result['low']:.3f} - {result['high']:<12.3f}"
            f"{limit if limit else '-':>7}{result['plain_us']:>12.2f}{result['audited_us']:>12.2f}"
            f"{result['added_mb']:>8.1f}",
            flush=True,
        )
        if limit and result["ratio"] > limit:
            bad.append(f"{name}: {result['ratio']:.3f} is above {limit}")
        if result["added_mb"] > MEMORY_LIMIT_MB:
            bad.append(f"{name}: {result['added_mb']:.0f} MiB more memory, above {MEMORY_LIMIT_MB}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(report, file, indent=1)
    for line in bad:
        print("over the limit: " + line, file=sys.stderr)
    return 1 if options.check and bad else 0


sys.exit(main())
