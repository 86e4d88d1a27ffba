"""The places in the sources that a page names between backticks: `path` or `path: name`."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = "base|cli|cmake|detector|docs|engine|examples|kernels|reports|scripts|static_checks|tests"
PLACEHOLDERS = {"NAME", "AREA", "FILE"}


def named_places(text):
    """(path, name or None) of each; a path with a placeholder names no file."""
    for path, name in re.findall(rf"`((?:{FOLDERS})(?:/[\w.-]+)*)(?:: (\w+))?`", text):
        if not PLACEHOLDERS & set(re.split(r"[/.]", path)):
            yield path, name or None


def is_defined(name, source):
    """Whether the source defines it: a function with its body, a declaration at the start of a line, a type, a constant, a value."""
    word = re.escape(name)
    return any(
        re.search(pattern, source, re.MULTILINE)
        for pattern in (
            rf"\b{word}\([^;{{}}]*\)(?: const)?\s*(?:noexcept\s*)?(?::[^;{{}}]*)?{{",  # its name, parameters, an opening brace
            rf"^[ \t]*(?!return\b|else\b|co_|throw\b)[\w:][\w:<>,&* ]*[ &*]{word}\([^;{{}}]*\)(?: const)?;",  # a declaration
            rf"^\s*(?:struct|class|enum|enum class|union)\s+{word}\b[^;]*{{",
            rf"\b(?:constexpr|const)\b[^;=]*\b{word}\b\s*[={{]",
            rf"^\s*#\s*define\s+{word}\b",
            rf"^(?:def|class)\s+{word}\b|^{word}\s*=",  # Python
        )
    )


def wrong_places(text, root=ROOT):
    """One sentence for each place that is not there."""
    for path, name in sorted(set(named_places(text)), key=str):
        file = root / path
        if not file.exists():
            yield f"there is no {path}"
        elif name and (not file.is_file() or not is_defined(name, file.read_text(encoding="utf-8"))):
            yield f"{path} does not define {name}"
