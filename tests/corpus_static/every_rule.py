"""What the labelled corpus must hold, by the project's own tables.

    every_rule.py [--counts]

For every rule of reports/catalogue/rules.toml that the static pass sees: a labelled line, at least as many hard
negatives (CLEAN) as positives (EXPECT), a report in golden/ and a page in docs/rules. For every source of
static_checks/sources: a finding in a golden report that comes from it. For every call that a rule judges: a finding
that names it. For every way in which the host decides by a value: a finding that says so. And as many hard negatives
as positives in all.
"""
import argparse
import json
import re
import sys
import tomllib
from collections import Counter
from pathlib import Path

CORPUS = Path(__file__).resolve().parent
ROOT = CORPUS.parent.parent

# Entries of the tables that no unit can call with the toolkit that the corpus is parsed with, or that bring nothing to
# the host.
NOT_CALLED = {
    "cudaThreadSynchronize": "gone from the toolkit",
    "cudaMemcpy3DPeer": "between two devices",
    "cudaMemcpy3DPeerAsync": "between two devices",
    "at::cuda::device_synchronize": "c10::cuda's, by its other name",
    "torch::unique": "an overload of another name in today's libtorch",
}

# What the messages say for each sink.
SINKS = {
    "condition": "the branch depends on a device value",
    "loop": "the loop depends on a device value",
    "loop bound": "the loop bound is a device value",
    "switch": "the switch depends on a device value",
    "ternary": "the ?: operator depends on a device value",
    "short-circuit": "the short-circuit depends on a device value",
    "host index": "the index is a device value",
    "size": "the size is a device value",
    "grid and block": "the launch configuration is a device value",
    "allocation": "the size of the allocation is a device value",
    "container": "the size of the container is a device value",
    "offset": "the offset is a device value",
}

# Sources that are no function of the tables, as findings name them.
MEMORY = ("managed memory", "mapped memory", "thrust::host_vector", "thrust::device_reference", "to(kCPU)")

# Whose result is a device value on the host.
SOURCES = {"source", "tensor-read", "tensor-to-host", "tensor-data-shape", "tensor-index", "tensor-copy"}
JUDGED = {
    "wait": "host-sync",
    "poll": "host-poll",
    "set": "sync-copy",
    "allocate": "device-alloc",
    "free": "device-alloc",
    "register": "host-alloc",
    "unregister": "host-alloc",
    "host-function": "host-node",
    "copy-node": "host-pointer",
    "create-handle": "device-alloc",
}


def labelled_files():
    for folder in ("flow", "regions", "rules", "sinks", "sources", "suppressed", "units"):
        for path in sorted((CORPUS / folder).rglob("*")):
            if path.suffix in (".cu", ".cpp", ".h", ".cuh"):
                yield path


def count():
    positives, negatives = Counter(), Counter()
    for path in labelled_files():
        for line in path.read_text().splitlines():
            for marker, separators, counts in (("EXPECT", r"[ ,]+", positives), ("CLEAN", ",", negatives)):
                if found := re.search(rf"// {marker}:(.*?)(?=//|$)", line):
                    words = (word.strip() for word in re.split(separators, found[1]))
                    counts.update(word.split(":")[0] for word in words if word)
    return positives, negatives


def table_entries():
    for path in sorted((ROOT / "static_checks/sources").glob("*.json")):
        for entry in json.loads(path.read_text())["functions"]:
            for name in entry.get("names", []):
                yield name, entry


def brings_a_value(entry):
    """Whether a call may put a device value into the host's memory, or give one."""
    kind = entry["is"]
    if kind == "copy":
        return ("dst" in entry or "dst_fields" in entry) and entry.get("direction") not in ("to-device", "on-device", "on-host")
    if kind == "device-algorithm":
        return any(entry.get(key) for key in ("returns", "copies", "iterator"))
    return kind in SOURCES


def is_judged(entry):
    return entry["is"] in JUDGED and not entry.get("host") and entry.get("memory") != "host"


def last_word(name):
    """As a finding names a call: methods and functions in namespaces by their last word."""
    return name.rsplit("::", 1)[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", action="store_true", help="print the count of each rule")
    options = parser.parse_args()
    faults = []

    rules = [
        rule["id"] for rule in tomllib.loads((ROOT / "reports/catalogue/rules.toml").read_text())["rule"] if "static" in rule["seen_by"]
    ]
    positives, negatives = count()
    golden = "\n".join(path.read_text() for path in sorted((CORPUS / "golden").glob("*.txt")))
    for rule in rules:
        page = ROOT / "docs/rules" / f"{rule}.md"
        if not page.is_file() or rule not in page.read_text():
            faults.append(f"{rule}: no page at docs/rules/{rule}.md")
        if options.counts:
            print(f"{rule:16} {positives[rule]:4} positives {negatives[rule]:4} hard negatives")
        if not positives[rule]:
            faults.append(f"{rule}: no label")
        if negatives[rule] < positives[rule]:
            faults.append(f"{rule}: {positives[rule]} positives, only {negatives[rule]} hard negatives")
        if f"[{rule}]" not in golden:
            faults.append(f"{rule}: in no golden report")
    total = sum(positives[rule] for rule in rules), sum(negatives[rule] for rule in rules)
    if total[0] > total[1]:
        faults.append(f"{total[0]} positives, only {total[1]} hard negatives")

    # A label that nothing finds fails its own test: what stands in a golden report is a labelled line.
    named = set(re.findall(r"device value \(([^()]*(?:\([^()]*\))?)\) \[(?:host-branch|device-sized)\]", golden))
    called = set(re.findall(r", calls (\S+)$", golden, re.MULTILINE))
    missing_sources, missing_calls = [], []
    for name, entry in table_entries():
        if name in NOT_CALLED or "TensorBase" in name:  # the methods that Tensor inherits
            continue
        words = {name, last_word(name), "mask indexing" if entry["is"] == "tensor-index" else name}
        if brings_a_value(entry) and not words & (named | called):
            missing_sources.append(name)
        if is_judged(entry) and not entry.get("async") and not {name, last_word(name)} & called:
            missing_calls.append(name)
    missing_sources += [name for name in MEMORY if name not in named]
    faults += [f"{name}: no finding of a golden report comes from this source" for name in missing_sources]
    faults += [f"{name}: no finding of a golden report names this call" for name in missing_calls]
    faults += [f'{sink}: no finding of a golden report says "{text}"' for sink, text in SINKS.items() if text not in golden]

    print("\n".join(faults))
    print(f"{len(rules)} rules, {total[0]} positives, {total[1]} hard negatives: {'FAILED' if faults else 'ok'}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
