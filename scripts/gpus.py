"""How many GPUs a program started here would see. Asked of the driver's own tool, so that asking makes no CUDA context."""

import os
import subprocess


def gpu_count():
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return 0
    there = sum(line.startswith("GPU ") for line in listed.stdout.splitlines()) if listed.returncode == 0 else 0
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return there
    # CUDA takes the list up to the first entry that names no device.
    named = 0
    for entry in visible.split(","):
        entry = entry.strip()
        if not entry or entry == "-1" or (entry.isdigit() and int(entry) >= there):
            break
        named += 1
    return min(named, there)
