#!/usr/bin/env python3
"""Makes the C++ tables (--cpp FILE, --situations FILE) and the pages (--pages DIR) of the rule catalogue.

Their sources are rules.toml and situations/*.toml.

--check DIR compares the pages with what would be made and fails with the command that refreshes them.
"""

import argparse
import pathlib
import re
import sys
import tomllib

import pages as page_text
import situation_table

KEYS = {"id", "title", "fault", "why", "in_region", "a_step", "hint", "fix", "bad", "good", "seen_by", "related", "if_captured"}
OPTIONAL = {"language", "graph", "status", "status_note", "former_hints", "heading", "cost", "could", "recorded"}
SEEN_BY = {"runtime", "static", "engine"}
IF_CAPTURED = {"dies", "wrong", "neither"}


def load(path):
    rules = tomllib.loads(path.read_text(encoding="utf-8"))["rule"]
    ids = [rule["id"] for rule in rules]
    for rule in rules:
        where = f"{path.name}: {rule.get('id', '?')}"
        missing, extra = KEYS - rule.keys(), rule.keys() - KEYS - OPTIONAL
        if missing or extra:
            sys.exit(f"{where}: missing {sorted(missing)}, unknown {sorted(extra)}")
        if not re.fullmatch(r"[a-z]+(-[a-z]+)*", rule["id"]) or ids.count(rule["id"]) != 1:
            sys.exit(f"{where}: an id is lower-case words joined by '-', and stands once")
        if set(rule["seen_by"]) - SEEN_BY or not rule["seen_by"]:
            sys.exit(f"{where}: seen_by is some of {sorted(SEEN_BY)}")
        if rule.get("status", "planned") != "planned":
            sys.exit(f"{where}: status is planned, or left out")
        if unknown := [other for other in rule["related"] if other not in ids]:
            sys.exit(f"{where}: related names no rule: {unknown}")
        if rule["if_captured"] not in IF_CAPTURED or (rule["if_captured"] == "wrong" and not rule.get("graph")):
            sys.exit(f"{where}: if_captured is one of {sorted(IF_CAPTURED)}, and wrong needs the words of `graph`")
        for key, value in rule.items():
            if isinstance(value, str):
                rule[key] = value.strip("\n")
        if "\n" in rule["hint"] or len(rule["hint"]) > 110:
            sys.exit(f"{where}: the hint is one line of at most 110 characters")
    return rules


def literal(text):
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", '\\n"\n    "')
    return f'"{escaped}"'


def cpp(rules):
    out = ["// Made from rules.toml by generate.py.\n"]
    for number, rule in enumerate(rules):
        for name in ("seen_by", "related", "former_hints"):
            items = ", ".join(literal(item) for item in rule.get(name, []))
            kind = f"constexpr std::array<std::string_view, {len(rule.get(name, []))}>"
            out.append(f"{kind} k_{name}_{number}{{{items}}};\n")
    out.append(f"constexpr std::array<Rule, {len(rules)}> kRules{{{{\n")
    for number, rule in enumerate(rules):
        texts = ("id", "title", "fault", "why", "in_region", "a_step", "hint", "fix")
        fields = [literal(rule[key]) for key in texts] + [literal(rule.get("language", "cpp"))]
        fields += [literal(rule["bad"]), literal(rule["good"]), f"k_seen_by_{number}", f"k_related_{number}"]
        fields += [f"IfCaptured::{rule['if_captured']}", literal(rule.get("graph", ""))]
        fields += [literal(rule.get("status", "")), literal(page_text.status_text(rule)), f"k_former_hints_{number}"]
        fields += [literal(rule.get("heading", "")), literal(rule.get("cost", "")), str(rule.get("could", False)).lower()]
        out.append("    {" + ",\n     ".join(fields) + "},\n")
    out.append("}};\n")
    return "".join(out)


def check(wanted, folder):
    stale = [name for name, text in wanted.items() if not (folder / name).is_file() or (folder / name).read_text(encoding="utf-8") != text]
    stale += [path.name for path in sorted(folder.glob("*.md")) if path.name not in wanted]
    if stale:
        sys.exit(
            f"{folder}: not what the catalogue says: {', '.join(stale)}\n" f"run: python3 reports/catalogue/generate.py --pages docs/rules"
        )


def write_anew(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--catalogue", type=pathlib.Path, default=here, help="the folder of rules.toml and situations/")
    parser.add_argument("--cpp", type=pathlib.Path)
    parser.add_argument("--situations", type=pathlib.Path)
    parser.add_argument("--pages", type=pathlib.Path)
    parser.add_argument("--check", type=pathlib.Path)
    arguments = parser.parse_args()
    rules = load(arguments.catalogue / "rules.toml")
    folder = arguments.catalogue / "situations"
    situations = situation_table.load(folder, {rule["id"]: rule for rule in rules})
    replacements = situation_table.load_replacements(arguments.catalogue / "replacements.toml", [rule["id"] for rule in rules])
    if arguments.cpp:
        write_anew(arguments.cpp, cpp(rules))
    if arguments.situations:
        write_anew(arguments.situations, situation_table.cpp(situations, replacements, literal))
    made = page_text.pages(rules, situations, replacements)
    if arguments.pages:
        for name, text in made.items():
            write(arguments.pages / name, text)
    if arguments.check:
        check(made, arguments.check)


if __name__ == "__main__":
    main()
