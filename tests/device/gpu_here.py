"""Is there a GPU to test on? Asked of the driver's own tool, so that the test itself need not use CUDA."""

import subprocess

NO_GPU = 77  # the exit code of a test that is skipped


def has_gpu():
    try:
        found = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return found.returncode == 0 and "GPU" in found.stdout
