"""Whether a program or a library runs on a machine that has a given glibc and nothing else."""

import re
import subprocess

OLDEST_GLIBC = "2.31"
# What glibc consists of; since 2.34 all but the first two are empty, and still there.
GLIBC_LIBRARIES = {"libc.so.6", "ld-linux-x86-64.so.2", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1"}


def version(text):
    return tuple(int(part) for part in text.split("."))


def dynamic_part(path):
    done = subprocess.run(
        ["objdump", "--private-headers", path], capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"}
    )
    if done.returncode:
        raise ValueError(f"{path}: {done.stderr.strip() or 'objdump cannot read it'}")
    return done.stdout


def libraries(path):
    return re.findall(r"^\s+NEEDED\s+(\S+)", dynamic_part(path), re.MULTILINE)


def symbol_versions(path):
    """Those that the loader looks for, as GLIBC_2.14."""
    references = dynamic_part(path).partition("Version References:")[2]
    return sorted(set(re.findall(r"^\s+0x\w+ 0x\w+ \d+ (\S+)", references, re.MULTILINE)))


def complaints(path, glibc=OLDEST_GLIBC, more_libraries=()):
    """Why `path` does not run on a machine with this glibc; a sentence each."""
    found = []
    for library in libraries(path):
        if library not in GLIBC_LIBRARIES and library not in more_libraries:
            found.append(f"{path} needs {library}, which glibc does not have")
    for symbol in symbol_versions(path):
        name, _, number = symbol.partition("_")
        if name == "GLIBC" and (not re.fullmatch(r"[\d.]+", number) or version(number) > version(glibc)):
            found.append(f"{path} needs {symbol}, which glibc {glibc} does not have")
    runpath = re.findall(r"^\s+R(?:UN)?PATH\s+(\S+)", dynamic_part(path), re.MULTILINE)
    found += [f"{path} looks for libraries in {place}" for place in runpath if not place.startswith("$ORIGIN/")]
    return found
