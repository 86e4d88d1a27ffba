#!/usr/bin/env python3
"""The source digest of an executable: SHA-256 over what its build really read.

Run just before the link by capgate_source_digest() of CapgateSourceDigest.cmake. The inputs come from the compilers'
dependency information: Ninja's log, or the .d files that Makefiles keep beside the objects. The flags come from
compile_commands.json. Paths inside the project are taken relative to it, so that two checkouts agree.
"""

import argparse
import hashlib
import json
import os
import pathlib
import struct
import subprocess
import sys


def fail(sentence):
    sys.exit(f"source digest: {sentence}")


def read_plan(path):
    plan = {"compiler": [], "object": []}
    for line in path.read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition(" ")
        if not value:
            continue
        if key in ("compiler", "object"):
            plan[key].append(value)
        else:
            plan[key] = value
    return plan


def ninja_dependencies(path):
    """{output: [inputs]} of Ninja's binary log; its last record of an output counts, a torn last record does not."""
    data = path.read_bytes()
    header = b"# ninjadeps\n"
    if not data.startswith(header) or len(data) < len(header) + 4:
        fail(f"{path} is not Ninja's dependency log")
    (version,) = struct.unpack_from("<i", data, len(header))
    if version not in (3, 4):
        fail(f"{path} has version {version}; versions 3 and 4 are known")
    time_size = 8 if version == 4 else 4
    at, paths, found = len(header) + 4, [], {}
    while at + 4 <= len(data):
        (size,) = struct.unpack_from("<I", data, at)
        at, is_deps, size = at + 4, size >> 31, size & 0x7FFFFFFF
        if at + size > len(data):
            break
        if is_deps:
            output = struct.unpack_from("<i", data, at)[0]
            count = (size - 4 - time_size) // 4
            inputs = struct.unpack_from(f"<{count}i", data, at + 4 + time_size)
            found[paths[output]] = [paths[i] for i in inputs]
        else:
            paths.append(data[at : at + size - 4].rstrip(b"\0").decode())
        at += size
    return found


def makefile_dependencies(path):
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    _, _, inputs = text.partition(": ")
    return [word.replace("\0", " ") for word in inputs.replace("\\ ", "\0").split() if not word.endswith(":")]


class Build:
    def __init__(self, plan):
        self.source = pathlib.Path(plan["source"])
        self.binary = pathlib.Path(plan["binary"])
        log = self.binary / ".ninja_deps"
        self.log = ninja_dependencies(log) if log.is_file() else {}
        commands = self.binary / "compile_commands.json"
        if not commands.is_file():
            fail(f"{commands} is missing; set CMAKE_EXPORT_COMPILE_COMMANDS")
        self.commands = {}
        for entry in json.loads(commands.read_text(encoding="utf-8")):
            words = entry.get("command") or " ".join(entry.get("arguments", []))
            output = entry.get("output") or self.output_of(words)
            self.commands[self.absolute(output, entry["directory"])] = words

    @staticmethod
    def output_of(command):
        words = command.split()
        return words[words.index("-o") + 1] if "-o" in words else ""

    def absolute(self, path, folder=None):
        return os.path.normpath(os.path.join(folder or self.binary, path))

    def inputs(self, target):
        inside = os.path.relpath(target, self.binary)
        for key in (inside, target):
            if key in self.log:
                return self.log[key]
        depfile = pathlib.Path(target + ".d")
        if depfile.is_file():
            return makefile_dependencies(depfile)
        return fail(f"no dependency information for {inside}; build with Ninja or Makefiles")

    def shown(self, path):
        """The path in the digest: the same in every checkout."""
        for root, name in ((self.binary, "<build>"), (self.source, "<source>")):
            if os.path.commonpath([path, root]) == str(root):
                return os.path.join(name, os.path.relpath(path, root))
        return path

    def flags(self, target):
        if target not in self.commands:
            fail(f"compile_commands.json has no entry for {self.shown(target)}")
        return self.commands[target].replace(str(self.binary), "<build>").replace(str(self.source), "<source>")


def digest_of(plan):
    build = Build(plan)
    lines, inputs = [], {}
    for target in sorted({build.absolute(name) for name in plan["object"]}):
        lines.append(f"object {build.shown(target)}\0{build.flags(target)}")
        for name in build.inputs(target):
            path = build.absolute(name)
            inputs[build.shown(path)] = path
    for shown, path in sorted(inputs.items()):
        try:
            with open(path, "rb") as file:
                lines.append(f"input {shown}\0{hashlib.sha256(file.read()).hexdigest()}")
        except OSError as error:
            fail(f"{path}: {error.strerror}")
    whole = ["capgate-source/1", *(f"compiler {name}" for name in sorted(plan["compiler"])), *lines]
    return hashlib.sha256("\n".join(whole).encode()).hexdigest()


def write_object(digest, target, compiler):
    text = (
        'extern "C" __attribute__((used, visibility("default"), section(".capgate.source")))\n'
        f'const char capgate_source_digest[65] = "{digest}";\n'
    )
    command = [compiler, "-x", "c++", "-fPIC", "-g0", "-c", "-", "-o", str(target)]
    done = subprocess.run(command, input=text.encode(), check=False)
    if done.returncode:
        fail(f"{compiler} could not make {target}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plan", type=pathlib.Path, required=True)
    parser.add_argument("--digest", type=pathlib.Path, required=True)
    parser.add_argument("--object", type=pathlib.Path, required=True)
    parser.add_argument("--compiler", required=True)
    arguments = parser.parse_args()
    digest = digest_of(read_plan(arguments.plan))
    write_object(digest, arguments.object, arguments.compiler)
    arguments.digest.write_text(digest + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
