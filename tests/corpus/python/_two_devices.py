"""Shared by the scripts that need two GPUs."""

import sys

import torch


def need_two_devices():
    """Ends the script by name where there is only one; the tools that run it ask before."""
    if torch.cuda.device_count() < 2:
        print("skipped: needs two GPUs", flush=True)
        sys.exit(77)


def wait_for_both():
    for device in (0, 1):
        torch.cuda.synchronize(device)
