#!/usr/bin/env python3
"""What the audit costs the program, as ratios measured in one run.

    run_overhead.py --library libcapgate_preload.so --program overhead [--pairs 12] [--json FILE] [--check]
    run_overhead.py --library libcapgate_preload.so --breakdown [--also NAME=LIBRARY…] [--seconds 150]

Each pair is one process with the library and one without, in turn and on the same four cores, so that a drift of the clock
hits both; a process gives the lower quartile of its rounds. The ratio is the median over the pairs, with an interval of 95 %
from their order statistics.

PyTorch's host thread is up to twice as slow in one process as in the next, library or not, which hides what is measured. The
neighbours of a virtual machine only ever add time, so the cases of PyTorch compare the fast processes: two servers have loaded
PyTorch, one with the library and one without, and fork eight times as many processes as there are pairs. A process gives its
third fastest round, and the ratio is that of the lower quartiles over the processes, with an interval of 95 % from 2,000
resamplings.

Prints the ratio of each case with its interval, the limit, and the memory that the library adds. --check: exit 1 when a ratio
is above its limit.

--breakdown: what the PyTorch step pays for, each part left out in turn (CAPGATE_WITHOUT). One server for each line, and rounds in
which each of them forks one process, until --seconds are over. --mode region: of the marked step.
"""
import argparse
import json
import math
import os
import random
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

# What is left out; None: no library at all.
PARTS = [
    ("no library", None),
    ("everything", ""),
    ("without callbacks", "callbacks"),
    ("without our own work", "calls"),
    ("without blocks", "pool-blocks"),
    ("blocks alone", "callbacks,calls"),
    ("without stacks", "native-stacks,python-stacks"),
    ("without audit hook", "audit-hook"),
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

    middle = staticmethod(statistics.median)

    def __init__(self, command, library, trace):
        self.command, self.trace = command, trace
        self.run(None)  # warms the file cache
        self.pairs = 1

    @staticmethod
    def ratio(audited, plain):
        return median_interval([a / p for a, p in zip(audited, plain)])

    def run(self, library):
        return run(self.command, library, self.trace)

    def close(self):
        pass


class Server:
    """A process that has loaded PyTorch, and forks for each measurement."""

    def __init__(self, script, library, trace, without=""):
        self.process = subprocess.Popen(
            [sys.executable, script, "serve"],
            env=environment(library, trace, without),
            text=True,
            preexec_fn=keep_to_four_cores,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(self, mode):
        try:
            print(mode, file=self.process.stdin, flush=True)
        except BrokenPipeError:
            pass
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the PyTorch step ended with {self.process.wait()}: {self.process.stderr.read().strip()[-400:]}")
        return json.loads(line)

    def close(self):
        self.process.communicate()


class Forks:
    """Two servers, with the library and without."""

    @staticmethod
    def middle(values):
        return lower_quartile(values)

    @staticmethod
    def ratio(audited, plain):
        return fast_ones(audited, plain)

    def __init__(self, script, mode, library, trace):
        self.mode = mode
        self.pairs = 8
        self.servers = {which: Server(script, which, trace) for which in (None, library)}
        for which in self.servers:
            self.run(which)

    def run(self, library):
        return self.servers[library].run(self.mode)

    def close(self):
        for server in self.servers.values():
            server.close()


def median_interval(values):
    """The median and the order statistics that hold it with 95 % (binomial)."""
    values = sorted(values)
    n = len(values)
    low = 0
    while low + 1 < n / 2 and sum(math.comb(n, i) for i in range(low + 2)) / 2**n <= 0.025:
        low += 1
    return statistics.median(values), values[low], values[n - 1 - low]


def lower_quartile(values):
    return statistics.quantiles(values, n=4)[0]


def fast_ones(audited, plain):
    """The ratio of the lower quartiles, and what holds it with 95 %, by resampling."""
    draw = random.Random(1)
    drawn = sorted(
        lower_quartile(draw.choices(audited, k=len(audited))) / lower_quartile(draw.choices(plain, k=len(plain))) for _ in range(2000)
    )
    return lower_quartile(audited) / lower_quartile(plain), drawn[50], drawn[1949]


def measure(make, library, pairs):
    """`make`: from a folder for traces to what runs the case."""
    plain_us, audited_us, added_mb = [], [], []
    trace = tempfile.mkdtemp(prefix="capgate-overhead-")
    case = None
    try:
        case = make(trace)
        pairs *= case.pairs
        for i in range(pairs):
            order = (None, library) if i % 2 == 0 else (library, None)
            results = {which: case.run(which) for which in order}
            plain_us.append(results[None]["us"])
            audited_us.append(results[library]["us"])
            added_mb.append((results[library]["rss_kb"] - results[None]["rss_kb"]) / 1024)
            for name in os.listdir(trace):
                os.unlink(os.path.join(trace, name))
    finally:
        if case is not None:
            case.close()
        shutil.rmtree(trace, ignore_errors=True)
    ratio, low, high = case.ratio(audited_us, plain_us)
    return {
        "ratio": ratio,
        "low": low,
        "high": high,
        "plain_us": case.middle(plain_us),
        "audited_us": case.middle(audited_us),
        "added_mb": statistics.median(added_mb),
        "pairs": pairs,
    }


def breakdown(script, mode, library, also, seconds):
    """Prints a line for each part that is left out; gives them back by name."""
    start = time.monotonic()
    trace = tempfile.mkdtemp(prefix="capgate-overhead-")
    lines = [(name, None if without is None else library, without or "") for name, without in PARTS]
    lines += [(name, os.path.abspath(path), "") for name, path in also]
    times = {name: [] for name, _, _ in lines}
    servers = {}
    try:
        for name, which, without in lines:
            servers[name] = Server(script, which, trace, without)
            servers[name].run(mode)  # warms the file cache
        rounds = 0
        while rounds < 3 or time.monotonic() - start < seconds:
            for name in list(servers)[:: 1 if rounds % 2 == 0 else -1]:
                times[name].append(servers[name].run(mode)["us"])
                for file in os.listdir(trace):
                    os.unlink(os.path.join(trace, file))
            rounds += 1
    finally:
        for server in servers.values():
            server.close()
        shutil.rmtree(trace, ignore_errors=True)
    print(f"{rounds} rounds\n{'':<24}{'us':>10}{'of no library':>15}  95 %")
    results = {}
    for name, values in times.items():
        ratio, low, high = fast_ones(values, times["no library"])
        results[name] = {"us": lower_quartile(values), "ratio": ratio, "low": low, "high": high, "rounds": rounds}
        print(f"{name:<24}{results[name]['us']:>10.1f}{ratio:>15.3f}  {low:.3f} - {high:.3f}", flush=True)
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
    parser.add_argument("--mode", choices=["eager", "region"], default="eager", help="the step of the breakdown")
    parser.add_argument("--seconds", type=float, default=150)
    options = parser.parse_args()
    library = os.path.abspath(options.library)
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "overhead_torch.py")
    wanted = options.cases.split(",") if options.cases else list(CASES)
    if options.breakdown:
        results = breakdown(script, options.mode, library, options.also, options.seconds)
        if options.json:
            with open(options.json, "w") as file:
                json.dump(results, file, indent=1)
        return 0
    has_torch = subprocess.run([sys.executable, "-c", "import torch"], capture_output=True).returncode == 0
    report, bad = {}, []
    print(f"{'case':<14}{'ratio':>8}  {'95 %':<20}{'limit':>7}{'plain us':>12}{'audited us':>12}{'+MiB':>8}")
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
