"""Whose code a build contains, and under which licence: the texts that Debian ships with the packages it was made of."""

import pathlib
import re
import subprocess


def headers_read(build):
    """Every header that the objects of a Ninja build were compiled with."""
    listed = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=True).stdout
    return {line.strip() for line in listed.splitlines() if line.startswith("    /")}


def archives_linked(maps):
    """Every archive of which the linker took a member, by its maps."""
    return {found for text in maps for found in re.findall(r"^(/\S+\.a)\(", text, re.MULTILINE)}


def packages_of(files):
    """The Debian packages that own these files; what no package owns is left out."""
    paths = set()
    for file in files:
        path = str(pathlib.Path(file).resolve())
        paths.update({path, path.removeprefix("/usr")})  # dpkg knows some by the path of before /usr was merged
    listed = subprocess.run(["dpkg-query", "--search", *sorted(paths)], capture_output=True, text=True).stdout
    owners = re.findall(r"^(\S[^/]*): /", listed, re.MULTILINE)
    return sorted({owner.split(":")[0].split(",")[0] for owner in owners})


def licence(package, root="/"):
    file = pathlib.Path(root) / "usr/share/doc" / package / "copyright"
    if not file.exists():
        raise ValueError(f"{file} is missing: it has the licence of what is linked from {package}")
    return file.read_text(encoding="utf-8", errors="replace").strip()


def page_notice(page):
    """The licences of what the page contains stand in its first long comment."""
    found = re.search(r"<!--\n(This page contains:.*?)-->", pathlib.Path(page).read_text(encoding="utf-8"), re.DOTALL)
    if not found:
        raise ValueError(f"{page} does not say what it contains")
    return found[1].strip()


def notices(packages, page, older_glibc):
    """One text. The same licence is printed once, with all the packages that it is about."""
    by_text = {}
    for package in packages:
        by_text.setdefault(licence(package), []).append(package)
    by_text.setdefault(licence("libgcc-10-dev", older_glibc), []).append("libgcc_eh.a of libgcc-10-dev")
    by_text.setdefault(page_notice(page), []).append("the page that `capgate view` writes")
    parts = [f"{'=' * 100}\n{', '.join(names)}\n{'=' * 100}\n\n{text}\n" for text, names in by_text.items()]
    return (
        "capgate contains code of the packages below: their headers were compiled, or their archives linked. Their sources are in\n"
        "Debian, under these names. libelf and libdw are under the LGPL: whoever wants another version of them builds capgate with\n"
        "it (scripts/release).\n\n" + "\n".join(parts)
    )
