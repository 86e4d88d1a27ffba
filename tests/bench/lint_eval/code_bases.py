"""The code bases of code_bases.json as they lie in a folder of checkouts."""
import glob
import json
import pathlib
import re

LIST = pathlib.Path(__file__).with_name("code_bases.json")


def _alternatives(pattern):
    """'a/{b,c}/d' as ['a/b/d', 'a/c/d']."""
    group = re.search(r"\{([^{}]*)\}", pattern)
    if not group:
        return [pattern]
    return [p for choice in group.group(1).split(",") for p in _alternatives(pattern[: group.start()] + choice + pattern[group.end() :])]


class CodeBase:
    def __init__(self, entry, checkouts):
        self.name = entry["name"]
        self.repository = entry["repository"]
        self.root = pathlib.Path(checkouts) / self.name
        self.units = sorted(
            {path for pattern in entry["units"] for one in _alternatives(pattern) for path in glob.glob(str(self.root / one))}
        )
        self.options = [option.replace("{root}", str(self.root)).replace("{checkouts}", str(checkouts)) for option in entry["options"]]


def load(checkouts, names=()):
    entries = json.loads(LIST.read_text())
    return [CodeBase(entry, checkouts) for entry in entries if not names or entry["name"] in names]
