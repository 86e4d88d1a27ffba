"""Reads situations/*.toml: what a rule's fault looks like in each situation, and what to call in place of a refused API."""

import re
import sys
import tomllib

# What a condition may ask of a violation (situation_fields.cpp answers).
FIELDS = {
    "api": "the call, without the suffixes of variants",
    "where": "capture, region, first pass, replays or source",
    "direction": "of a copy: device to host, host to device, device to device, host to host",
    "refused": "yes or no",
    "result": "what CUDA answered",
    "severity": "error, warning or note",
    "break": "yes in an eager break",
    "language": "cpp or python: of the user's line",
    "replacement": "yes where replacements.toml has a row for the call",
    "caller": "the module that called CUDA",
    "frame": "a function between CUDA and the user's line",
    "library": "a module or file between CUDA and the user's line",
    "called_from": "a module or file of the user's line or of what called it",
}
WHERE = {"capture", "region", "first pass", "replays", "source"}
KEYS = {"id", "title", "when", "why", "fix", "python_fix", "cpp", "python", "no_cpp", "no_python", "whole_function"}
IN_PLACE_OF_THE_RULES = {"if_captured", "graph", "cost"}
IF_CAPTURED = {"dies", "wrong", "neither"}
COLUMNS = 97
FIX_COLUMNS = 120
GENERIC = "other"


def condition_problem(field, globs):
    if field not in FIELDS and not field.startswith("details."):
        return f"when asks for {field!r}; known are {', '.join(FIELDS)} and details.KEY"
    if not globs or not all(isinstance(glob, str) for glob in globs):
        return f"when.{field} is a list of globs"
    if field == "where" and set(globs) - WHERE:
        return f"when.where is some of {sorted(WHERE)}"
    return None


def example_problem(entry, language):
    example, reason = entry.get(language), entry.get(f"no_{language}")
    if (example is None) == (reason is None):
        return f"one of {language} and no_{language} is needed"
    if example is not None and (not example or len(example.splitlines()) > 2):
        return f"the {language} example has one or two lines"
    if example and any(len(line) > COLUMNS for line in example.splitlines()):
        return f"a line of the {language} example has more than {COLUMNS} columns"
    return None


def problem(entry, rule):
    if unknown := entry.keys() - KEYS - IN_PLACE_OF_THE_RULES:
        return f"unknown {sorted(unknown)}"
    if missing := {"id", "title", "why"} - entry.keys():
        return f"missing {sorted(missing)}"
    if not re.fullmatch(re.escape(rule) + r"\.[a-z0-9]+(-[a-z0-9]+)*", entry["id"]):
        return "an id is its rule, a dot, and lower-case words joined by '-'"
    for key in ("fix", "python_fix"):
        if "\n" in entry.get(key, "") or len(entry.get(key, "")) > FIX_COLUMNS:
            return f"{key} is one line of at most {FIX_COLUMNS} characters"
    if entry.get("whole_function", True) is not True:
        return "whole_function is true, or left out"
    if entry.get("if_captured", "dies") not in IF_CAPTURED:
        return f"if_captured is one of {sorted(IF_CAPTURED)}"
    for field, globs in entry["when"].items():
        if trouble := condition_problem(field, globs):
            return trouble
    return example_problem(entry, "cpp") or example_problem(entry, "python")


def load(folder, rules):
    """The situations of each rule, in the catalogue's order, the generic one last."""
    ids, by_rule = set(), {}
    for path in sorted(folder.glob("*.toml")):
        for entry in tomllib.loads(path.read_text(encoding="utf-8")).get("situation", []):
            where = f"{path.name}: {entry.get('id', '?')}"
            rule = rules.get(entry.get("id", "").split(".")[0])
            if not rule or rule.get("status") == "planned":
                sys.exit(f"{where}: names no rule that is raised")
            # A condition of another field: a table of its own in TOML.
            entry["when"] = {field: globs for field, globs in flat(entry.get("when", {}))}
            for key, value in entry.items():
                if isinstance(value, str):
                    entry[key] = value.strip("\n")
            if entry["id"].endswith(f".{GENERIC}"):
                entry.setdefault("fix", rule["hint"])
            entry.setdefault("fix", "")
            if trouble := problem(entry, rule["id"]):
                sys.exit(f"{where}: {trouble}")
            if entry["id"] in ids or not entry["fix"]:
                sys.exit(f"{where}: an id stands once, and has a fix")
            if entry["id"].endswith(f".{GENERIC}") != (not entry["when"]):
                sys.exit(f"{where}: the entry named {GENERIC}, and it alone, has no conditions")
            ids.add(entry["id"])
            by_rule.setdefault(rule["id"], []).append(entry)
    for rule in rules.values():
        entries = by_rule.get(rule["id"], [])
        if rule.get("status") == "planned":
            continue
        if not entries or entries[-1]["when"] or any(not entry["when"] for entry in entries[:-1]):
            sys.exit(f"{folder.name}: {rule['id']}: its last situation, and no other, is {rule['id']}.{GENERIC}")
    return {rule: by_rule[rule] for rule in rules if rule in by_rule}


def flat(when):
    for field, globs in when.items():
        if isinstance(globs, dict):
            yield from ((f"{field}.{key}", value) for key, value in globs.items())
        else:
            yield field, globs


def load_replacements(path, rules):
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["replacement"]
    named = [api for row in rows for api in row["apis"]]
    for row in rows:
        where = f"{path.name}: {row.get('apis')}"
        if row.keys() != {"apis", "rules", "instead"} or not row["apis"] or not row["rules"]:
            sys.exit(f"{where}: a row has apis, rules and instead")
        if unknown := set(row["rules"]) - set(rules):
            sys.exit(f"{where}: {sorted(unknown)} is no rule")
        if "\n" in row["instead"] or len(row["instead"]) > FIX_COLUMNS + 40:
            sys.exit(f"{where}: instead is one line of at most {FIX_COLUMNS + 40} characters")
        if twice := [api for api in row["apis"] if named.count(api) != 1]:
            sys.exit(f"{where}: {twice} has two rows")
    return rows


def cpp(by_rule, replacements, literal):
    out = ["// Made from situations/*.toml by generate.py.\n"]
    lists = {}

    def list_of(items):
        key = tuple(items)
        if key not in lists:
            lists[key] = f"k_list_{len(lists)}"
            text = ", ".join(literal(item) for item in items)
            out.append(f"constexpr std::array<std::string_view, {len(items)}> {lists[key]}{{{text}}};\n")
        return lists[key]

    rows = []
    for rule, entries in by_rule.items():
        for number, entry in enumerate(entries):
            name = f"k_when_{rule.replace('-', '_')}_{number}"
            conditions = ", ".join(f"Condition{{{literal(field)}, {list_of(globs)}}}" for field, globs in entry["when"].items())
            if entry["when"]:
                out.append(f"constexpr std::array<Condition, {len(entry['when'])}> {name}{{{conditions}}};\n")
            keys = ("why", "fix", "python_fix", "cpp", "python", "no_cpp", "no_python")
            fields = [literal(entry["id"]), literal(rule), literal(entry["title"])]
            fields += [name if entry["when"] else "std::span<const Condition>{}"]
            fields += [literal(entry.get(key, "")) for key in keys]
            fields += [str(entry.get("whole_function", False)).lower()]
            fields += [f"IfCaptured::{entry['if_captured']}" if "if_captured" in entry else "std::nullopt"]
            fields += [literal(entry.get("graph", "")), literal(entry.get("cost", ""))]
            rows.append("    Situation{" + ",\n     ".join(fields) + "},\n")
    out.append(f"constexpr std::array<Situation, {len(rows)}> kSituations{{{{\n{''.join(rows)}}}}};\n")
    others = "".join(
        f"    Replacement{{{list_of(row['apis'])}, {list_of(row['rules'])}, {literal(row['instead'])}}},\n" for row in replacements
    )
    out.append(f"constexpr std::array<Replacement, {len(replacements)}> kReplacements{{{{\n{others}}}}};\n")
    return "".join(out)
