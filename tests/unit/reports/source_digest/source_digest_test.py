#!/usr/bin/env python3
"""Builds a small project with capgate_source_digest() and edits it: what must change the digest does, nothing else does."""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile


class Checkout:
    def __init__(self, arguments, root):
        self.arguments, self.source, self.binary = arguments, root / "source", root / "build"
        shutil.copytree(pathlib.Path(__file__).parent / "project", self.source)

    def digest(self, *options):
        """Builds, and gives back the digest of the executable and of the file beside it, which must agree."""
        configure = [
            "cmake",
            "-S",
            self.source,
            "-B",
            self.binary,
            "-G",
            self.arguments.generator,
            f"-DCAPGATE_SOURCE_DIGEST={self.arguments.module}",
            *options,
        ]
        for command in (configure, ["cmake", "--build", self.binary]):
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            if done.returncode:
                sys.exit(done.stdout)
        printed = subprocess.run([self.binary / "engine"], capture_output=True, text=True, check=True).stdout.strip()
        written = (self.binary / "engine.source_digest").read_text(encoding="utf-8").strip()
        expect(len(printed) == 64 and printed == written, f"{printed!r} is linked in, {written!r} lies beside it")
        return printed

    def edit(self, name, old, new):
        path = self.source / name
        text = path.read_text(encoding="utf-8")
        expect(old in text, f"{name} holds {old!r}")
        path.write_text(text.replace(old, new), encoding="utf-8")


def expect(condition, sentence):
    if not condition:
        sys.exit(f"FAILED: expected that {sentence}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--generator", required=True)
    parser.add_argument("--module", required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        checkout = Checkout(arguments, pathlib.Path(folder) / "one")
        first = checkout.digest()
        expect(checkout.digest() == first, "a build without an edit keeps the digest")

        checkout.edit("include/layer.h", "The header", "A header")
        commented = checkout.digest()
        expect(commented != first, "an edited comment in a library's header changes the digest")
        checkout.edit("include/layer.h", "A header", "The header")
        expect(checkout.digest() == first, "taking the edit back gives the first digest again")

        checkout.edit("layer.cpp", "return 41", "return 40 + 1")
        expect(checkout.digest() not in (first, commented), "an edited source of a library changes the digest")
        checkout.edit("layer.cpp", "return 40 + 1", "return 41")
        expect(checkout.digest() == first, "taking that back gives the first digest again")

        (checkout.source / "notes.txt").write_text("nobody reads this", encoding="utf-8")
        expect(checkout.digest() == first, "a file that no compiler reads does not count")
        expect(checkout.digest("-DCMAKE_CXX_FLAGS=-DEXTRA=1") != first, "another flag changes the digest")

        other = Checkout(arguments, pathlib.Path(folder) / "another" / "place")
        expect(other.digest() == first, "another checkout of the same sources gives the same digest")


if __name__ == "__main__":
    main()
