"""`capgate` and `python -m capgate`: become the program."""

import os
import sys

import capgate


def main():
    path = capgate.program()
    try:
        os.execv(path, ["capgate", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"capgate: cannot start {path}: {error.strerror}; install capgate again, or correct $CAPGATE")


if __name__ == "__main__":
    main()
