"""Where a program finds CUDA's libraries on a machine whose loader does not know them."""

import os
import pathlib
import re
import subprocess


def _toolkits():
    named = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH")]
    return [pathlib.Path(name) for name in named if name] + [
        pathlib.Path("/usr/local/cuda"),
        *sorted(pathlib.Path("/usr/local").glob("cuda-*"), reverse=True),
    ]


def library_path(program):
    """The LD_LIBRARY_PATH that `program` needs; None where it finds everything by itself, or no toolkit would help."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True)
    lacking = re.findall(r"^\s*(\S+) => not found", listed.stdout, re.MULTILINE)
    for toolkit in _toolkits():
        folder = toolkit / "lib64"
        if any((folder / name).exists() for name in lacking):
            before = os.environ.get("LD_LIBRARY_PATH")
            return f"{folder}:{before}" if before else str(folder)
    return None
