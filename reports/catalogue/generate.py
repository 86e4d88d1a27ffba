#!/usr/bin/env python3
"""Makes the C++ table (--cpp FILE) and the pages (--pages DIR) of the rule catalogue from rules.toml.

--check DIR compares the pages with what would be made and fails with the command that refreshes them.
"""

import argparse
import pathlib
import re
import sys
import tomllib

KEYS = {"id", "title", "fault", "why", "in_region", "a_step", "hint", "fix", "bad", "good", "seen_by", "related", "if_captured"}
OPTIONAL = {"language", "graph"}
SEEN_BY = {"runtime", "static", "engine"}
IF_CAPTURED = {"dies", "wrong", "neither"}
SEEN_WORDS = {
    "runtime": "`capgate audit`",
    "static": "`capgate lint`",
    "engine": "the engine's own comparison",
}


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
        for name in ("seen_by", "related"):
            items = ", ".join(literal(item) for item in rule[name])
            kind = f"constexpr std::array<std::string_view, {len(rule[name])}>"
            out.append(f"{kind} k_{name}_{number}{{{items}}};\n")
    out.append(f"constexpr std::array<Rule, {len(rules)}> kRules{{{{\n")
    for number, rule in enumerate(rules):
        texts = ("id", "title", "fault", "why", "in_region", "a_step", "hint", "fix")
        fields = [literal(rule[key]) for key in texts] + [literal(rule.get("language", "cpp"))]
        fields += [literal(rule["bad"]), literal(rule["good"]), f"k_seen_by_{number}", f"k_related_{number}"]
        fields += [f"IfCaptured::{rule['if_captured']}", literal(rule.get("graph", ""))]
        out.append("    {" + ",\n     ".join(fields) + "},\n")
    out.append("}};\n")
    return "".join(out)


def page(rule):
    seen = " and ".join(SEEN_WORDS[who] for who in rule["seen_by"])
    language = rule.get("language", "cpp")
    mark = "#" if language == "python" else "//"
    related = ", ".join(f"[{other}]({other}.md)" for other in rule["related"])
    return f"""<!-- Made from reports/catalogue/rules.toml; change it there. -->
# {rule["id"]}: {rule["title"]}

{rule["fault"]}

| | |
| --- | --- |
| in a capture or a marked region | {rule["in_region"]} |
| once a step, between two launches of one graph | {rule["a_step"]} |
| seen by | {seen} |

## Why it bites

{rule["why"]}

## How to fix it

**{rule["hint"][0].upper() + rule["hint"][1:]}.**

{rule["fix"]}

## Example

```{language}
{rule["bad"]}
```

Better:

```{language}
{rule["good"]}
```

## When it is meant

```{language}
{mark} capgate-allow({rule["id"]}): the reason
```

on the line or the line above; or `{rule["id"]}:GLOB  the reason` in the suppressions file.

See also: {related}.
"""


def index(rules):
    rows = "".join(
        f"| [{rule['id']}]({rule['id']}.md) | {rule['title']} | {rule['in_region']} | {rule['a_step']} "
        f"| {', '.join(rule['seen_by'])} |\n"
        for rule in rules
    )
    return f"""<!-- Made from reports/catalogue/rules.toml; change it there. -->
# Rules

`capgate explain RULE` prints a page, `capgate rules` this list.

| rule | the fault | in a capture or a marked region | once a step | seen by |
| --- | --- | --- | --- | --- |
{rows}"""


def pages(rules):
    return {"README.md": index(rules)} | {f"{rule['id']}.md": page(rule) for rule in rules}


def check(wanted, folder):
    stale = [name for name, text in wanted.items()
             if not (folder / name).is_file() or (folder / name).read_text(encoding="utf-8") != text]
    stale += [path.name for path in sorted(folder.glob("*.md")) if path.name not in wanted]
    if stale:
        sys.exit(f"{folder}: not what rules.toml says: {', '.join(stale)}\n"
                 f"run: python3 reports/catalogue/generate.py --pages docs/rules")


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rules", type=pathlib.Path, default=here / "rules.toml")
    parser.add_argument("--cpp", type=pathlib.Path)
    parser.add_argument("--pages", type=pathlib.Path)
    parser.add_argument("--check", type=pathlib.Path)
    arguments = parser.parse_args()
    rules = load(arguments.rules)
    if arguments.cpp:
        arguments.cpp.parent.mkdir(parents=True, exist_ok=True)
        arguments.cpp.write_text(cpp(rules), encoding="utf-8")
    if arguments.pages:
        for name, text in pages(rules).items():
            write(arguments.pages / name, text)
    if arguments.check:
        check(pages(rules), arguments.check)


if __name__ == "__main__":
    main()
