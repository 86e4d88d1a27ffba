#!/usr/bin/env python3
"""Writes the sources of a git directory's newest commit into a folder.

Objects that the directory lacks (large files of a partial copy) are left out and counted, where `git archive` would stop in the middle.
"""
import argparse
import pathlib
import subprocess
import sys

SOURCES = {"", ".c", ".cc", ".cpp", ".cxx", ".cu", ".cuh", ".h", ".hh", ".hpp", ".inl", ".inc", ".ipp", ".txt", ".cmake", ".in"}


def entries(git_dir, commit):
    listing = subprocess.run(["git", f"--git-dir={git_dir}", "ls-tree", "-r", "-z", commit], check=True, capture_output=True).stdout
    for entry in listing.split(b"\0"):
        if not entry:
            continue
        head, path = entry.split(b"\t", 1)
        mode, kind, blob = head.split()
        if kind == b"blob" and mode != b"120000":
            yield blob, path.decode("utf-8", "surrogateescape")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("git_dir")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--commit", default="HEAD")
    options = parser.parse_args()
    wanted = [(blob, path) for blob, path in entries(options.git_dir, options.commit) if pathlib.PurePath(path).suffix in SOURCES]
    reader = subprocess.Popen(
        ["git", f"--git-dir={options.git_dir}", "cat-file", "--batch"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    missing = 0
    for blob, path in wanted:
        reader.stdin.write(blob + b"\n")
        reader.stdin.flush()
        head = reader.stdout.readline().split()
        if head[-1:] == [b"missing"] or len(head) != 3:
            missing += 1
            continue
        size = int(head[2])
        content = reader.stdout.read(size)
        reader.stdout.read(1)
        target = options.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    reader.stdin.close()
    reader.wait()
    print(f"{options.folder}: {len(wanted) - missing} files, {missing} not in the copy", file=sys.stderr)


if __name__ == "__main__":
    main()
