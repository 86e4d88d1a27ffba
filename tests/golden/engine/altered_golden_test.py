#!/usr/bin/env python3
"""dsv4 verify and compare must notice one altered value of each kind in a golden file, and refuse a damaged file.

    altered_golden_test.py DSV4 GOLDEN
"""

import json
import struct
import subprocess
import sys
import tempfile

dsv4, golden = sys.argv[1:]
CASE = "clamps"
whole = open(golden, "rb").read()
size = int.from_bytes(whole[:8], "little")
header = json.loads(whole[8 : 8 + size])
failures = 0


def run(command, data):
    with tempfile.NamedTemporaryFile(suffix=".safetensors") as file:
        file.write(data)
        file.flush()
        done = subprocess.run([dsv4, command, "--golden", file.name, "--case", CASE], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def check(what, command, data, code, *sentences):
    global failures
    got, text = run(command, data)
    missing = [s for s in sentences if s not in text]
    if got != code or missing:
        failures += 1
        print(f"FAIL {what}: exit {got} instead of {code}, missing {missing}:\n{text[-1500:]}")


def altered(tensor, index, change):
    """The file with one element of CASE/tensor changed."""
    entry = header[f"{CASE}/{tensor}"]
    kind = {"F32": "<f", "I32": "<i"}[entry["dtype"]]
    at = 8 + size + entry["data_offsets"][0] + 4 * index
    data = bytearray(whole)
    data[at : at + 4] = struct.pack(kind, change(struct.unpack(kind, data[at : at + 4])[0]))
    return bytes(data)


check("unaltered", "verify", whole, 0, "ok")
check("unaltered", "compare", whole, 0)
vocab, k = 128, 4
check("a logit", "verify", altered("logits", 100 * vocab + 7, lambda v: v + 0.001), 1, "FAIL", "row 0, position 100")
check("a NaN", "verify", altered("logits", 100 * vocab + 7, lambda v: float("nan")), 1, "FAIL")
check("a chosen entry", "verify", altered("index/0", 200 * k, lambda v: v + 1 if v else 3), 1, "wrong")
check("a chosen expert", "verify", altered("experts/1", 2 * 50, lambda v: v ^ 1), 1, "wrong")
check("a greedy token", "verify", altered("greedy/7", 3, lambda v: (v + 1) % vocab), 1, "wrong")
check("a fed token", "verify", altered("tokens", 60, lambda v: (v + 1) % vocab), 1, "FAIL")
check("a token outside the vocabulary", "verify", altered("tokens", 60, lambda v: 1000), 2, "token 1000")
for name in ("layers.1.attn_hc.comb", "layers.2.attn.context", "layers.0.attn.compressor.entry", "layers.1.ffn.shared"):
    check(
        name, "compare", altered(f"act/{name}/31", 1, lambda v: v + 0.01), 1, f"the first component that is apart is {name} at position 31"
    )
check("a truncated file", "verify", whole[:-1], 2, "lies at bytes")
check("another format", "verify", whole.replace(b"dsv4-golden/1", b"dsv4-golden/2"), 2, "not a golden file of format")
check("a case's rows", "verify", whole.replace(b'\\"rows\\": 1', b'\\"rows\\": 9'), 2, "have another shape")

print(f"{failures} failures" if failures else "every altered value was noticed")
sys.exit(1 if failures else 0)
