"""Marks functions as steps whose owner does not mark them. `capgate audit --region-fn MODULE:NAME` puts this folder in front of
PYTHONPATH, so that Python runs this file before the program; the sitecustomize that it stands in front of runs as well.
"""

import functools
import importlib.util
import os
import sys

_FOLDER = os.path.dirname(os.path.abspath(__file__))


def _complain(sentence):
    sys.stderr.write(f"capgate: --region-fn {sentence}\n")


def _wanted():
    """{module: [name in it]}"""
    found = {}
    for word in os.environ.get("CAPGATE_REGION_FN", "").splitlines():
        module, _, name = word.partition(":")
        found.setdefault(module, []).append(name)
    return found


def _region(function, name):
    import capgate_marks

    @functools.wraps(function)
    def step(*arguments, **options):
        with capgate_marks.region(name):
            return function(*arguments, **options)

    return step


def _mark(module, name):
    owner = module
    *path, last = name.split(".")
    for part in path:
        owner = getattr(owner, part, None)
    raw = vars(owner).get(last) if hasattr(owner, "__dict__") else None
    label = f"{module.__name__}:{name}"
    if isinstance(raw, (staticmethod, classmethod)):
        setattr(owner, last, type(raw)(_region(raw.__func__, label)))
    elif callable(raw):
        setattr(owner, last, _region(raw, label))
    else:
        _complain(f"{label}: {module.__name__} has no function {name}; no such step is marked")


class _Finder:
    """Sees the import of a wanted module, and marks its functions once it has run."""

    def __init__(self, wanted):
        self.wanted = wanted

    def find_spec(self, name, path=None, target=None):
        names = self.wanted.pop(name, None)  # once; and not again while the real finders are asked below
        if names is None:
            return None
        spec = importlib.util.find_spec(name)
        if spec is None or not hasattr(spec.loader, "exec_module"):
            return spec
        run = spec.loader.exec_module

        def run_and_mark(module):
            run(module)
            for each in names:
                _mark(module, each)

        spec.loader.exec_module = run_and_mark
        return spec


def _run_the_other():
    """The sitecustomize that Python would have run without this one."""
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder or ".") != _FOLDER]
    sys.modules.pop("sitecustomize", None)
    spec = importlib.util.find_spec("sitecustomize")
    if spec is not None:
        import sitecustomize  # noqa: F401


sys.path.append(os.path.dirname(_FOLDER))  # capgate_marks, where it is not installed
sys.meta_path.insert(0, _Finder(_wanted()))
_run_the_other()
