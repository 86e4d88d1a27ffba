"""Every program that is audited on a GPU, with the command that runs it."""

from pathlib import Path

from .source import BadExpectation, read_options

ROOT = Path(__file__).resolve().parents[3]
_TINY_LAYERS = 6  # of the engine's tiny shape
_OPTIONS = {"BUILD", "AUDIT", "ARGS", "ENV", "GPUS", "TIMEOUT", "NEEDS", "VARIANTS"}


def _one(source, kind, variant, command):
    options = read_options(source)
    unknown = set(options) - _OPTIONS
    if unknown:
        raise BadExpectation(f"{source}: unknown CORPUS-{sorted(unknown)[0]}")
    relative = source.relative_to(ROOT)
    return {
        "name": f"{kind}/{source.stem}.{variant}",
        "kind": kind,
        "variant": variant,
        "source": str(relative),
        "argv": command + options.get("ARGS", []),
        "audit": options.get("AUDIT", []),
        "env": dict(setting.split("=", 1) for setting in options.get("ENV", [])),
        "timeout": int(options.get("TIMEOUT", ["60"])[0]),
        "needs": options.get("NEEDS", []),
        "gpus": int(options.get("GPUS", ["1"])[0]),
    }


def _scripts(folder):
    return sorted(path for path in folder.glob("*.py") if not path.name.startswith("_"))


def _trials(build):
    """The decode engine's own trial, in each mode that captures."""
    source = ROOT / "engine/cli/graphs/trial.cpp"
    for mode, captures in (("full", ["bs={}"]), ("piecewise", ["bs={} piece %d" % piece for piece in range(_TINY_LAYERS + 1)])):
        buckets = (1, 2, 4)
        command = [f"{build}/bin/dsv4", "trial", "--shape", "tiny", "--buckets", ",".join(map(str, buckets)), "--mode", mode]
        entry = _one(source, "engine", "healthy", command)
        entry["name"] = f"engine/trial_{mode}.healthy"
        for bucket in buckets:
            for capture in captures:
                entry["audit"] += ["--expect-bucket", capture.format(bucket)]
        yield entry


def programs(build, python="python3", root=None):
    """One entry a program and variant. Paths of C++ programs are under `build`, of scripts under `root`."""
    at = Path(root) if root else ROOT
    found = []
    for source in sorted((ROOT / "tests/corpus/cpp").glob("*.cu")):
        for variant in ("faulty", "clean"):
            found.append(_one(source, "cpp", variant, [f"{build}/bin/corpus/{source.stem}.{variant}"]))
    for source in _scripts(ROOT / "tests/corpus/python"):
        script = str(at / source.relative_to(ROOT))
        for variant in read_options(source).get("VARIANTS", ["faulty", "clean"]):
            found.append(_one(source, "python", variant, [python, script, variant]))
    for source in sorted((ROOT / "tests/healthy/cpp").glob("*.cu")):
        found.append(_one(source, "healthy", "healthy", [f"{build}/bin/healthy/{source.stem}"]))
    for source in _scripts(ROOT / "tests/healthy/python"):
        found.append(_one(source, "healthy", "healthy", [python, str(at / source.relative_to(ROOT))]))
    found.extend(_trials(build))
    return found
