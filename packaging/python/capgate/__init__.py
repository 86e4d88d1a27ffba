"""The program capgate, as pip installs it. What a program says about itself is in capgate_marks."""

import os

__all__ = ["program"]


def program():
    """The path of the program; $CAPGATE names another one."""
    return os.environ.get("CAPGATE") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "capgate")
