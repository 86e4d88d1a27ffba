"""Writes the pages of docs/rules: one per rule, their index, and the calls that captures refuse."""

import json
import pathlib
import textwrap

TRACES = pathlib.Path(__file__).resolve().parents[2] / "tests/traces"

SEEN_WORDS = {
    "runtime": "`capgate audit`",
    "static": "`capgate lint`",
    "engine": "the engine's own comparison",
}
MADE_FROM = "<!-- Made from reports/catalogue/{}; change it there. -->"
PLANNED = "Planned: nothing raises this rule yet."


def status_text(rule):
    if rule.get("status") != "planned":
        return ""
    return " ".join([PLANNED, *([rule["status_note"]] if "status_note" in rule else [])])


def sentence(text):
    return text[0].upper() + text[1:] + "."


def example(situation):
    out = ""
    for language in ("cpp", "python"):
        if language in situation:
            out += f"\n```{language}\n{situation[language]}\n```\n"
        else:
            out += f"\n{'C++' if language == 'cpp' else 'Python'}: {situation[f'no_{language}']}.\n"
    return out


def situation_section(situation):
    python = f" In Python: {situation['python_fix']}." if situation.get("python_fix") else ""
    # One situation of many calls, each with its own replacement.
    fix = "use what [the table of calls](calls.md) names in place of the call" if situation["fix"] == "{replacement}" else situation["fix"]
    return f"""
### {situation["id"]}: {situation["title"]}

{situation["why"]}

**{sentence(fix)}**{python}
{example(situation)}"""


def situation_sections(situations):
    if not situations:
        return ""
    return "\n## Situations\n\nThe first one that fits is the one that a report names.\n" + "".join(
        situation_section(situation) for situation in situations
    )


def recorded_report(rule):
    """What the report of a run that was recorded on a GPU says."""
    if "recorded" not in rule:
        return ""
    report = json.loads((TRACES / f"{rule['recorded']}.json").read_text(encoding="utf-8"))
    found = next(violation for violation in report["violations"] if violation["rule"] == rule["id"])
    at = found["location"]
    lines = [f"{found['severity']} {found['rule']} {at['file']}:{at['line']} {at['function']}"]
    lines += textwrap.wrap(found["message"], 100, initial_indent="  ", subsequent_indent="  ")
    lines += [f"  {'>' if line['line'] == at['line'] else ' '} {line['line']} | {line['text']}" for line in found.get("source", [])]
    text = "\n".join(line.rstrip() for line in lines)
    return (
        f"\n## In a report\n\nOf a run of `tests/corpus/{rule['recorded'].rsplit('.', 1)[0]}`, recorded on an H200:\n\n```\n{text}\n```\n"
    )


def rule_page(rule, situations):
    seen = " and ".join(SEEN_WORDS[who] for who in rule["seen_by"])
    language = rule.get("language", "cpp")
    mark = "#" if language == "python" else "//"
    related = ", ".join(f"[{other}]({other}.md)" for other in rule["related"])
    status = f"\n**{status_text(rule)}**\n" if rule.get("status") else ""
    seen_row = f"| seen by | {seen} |" if not rule.get("status") else f"| to be seen by | {seen} |"
    return f"""{MADE_FROM.format("rules.toml and situations/")}
# {rule["id"]}: {rule["title"]}
{status}
{rule["fault"]}

| | |
| --- | --- |
| in a capture or a marked region | {rule["in_region"]} |
| once per step, between two launches of one graph | {rule["a_step"]} |
{seen_row}

## Why it matters

{rule["why"]}

## How to fix it

**{sentence(rule["hint"])}**

{rule["fix"]}

## Example

```{language}
{rule["bad"]}
```

Better:

```{language}
{rule["good"]}
```
{recorded_report(rule)}{situation_sections(situations)}
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
        f"| {'planned' if rule.get('status') else ', '.join(rule['seen_by'])} |\n"
        for rule in rules
    )
    return f"""{MADE_FROM.format("rules.toml")}
# Rules

`capgate explain RULE` prints a page, `capgate rules` this list. A rule that is `planned` has an id and a page, and nothing raises it yet.
[Calls that a capture refuses or leaves out](calls.md) have a table of what to call instead.

| rule | the fault | in a capture or a marked region | once per step | seen by |
| --- | --- | --- | --- | --- |
{rows}"""


def calls(replacements):
    def rules(row):
        return ", ".join(f"[{rule}]({rule}.md)" for rule in row["rules"])

    rows = "".join(f"| {', '.join(f'`{api}`' for api in row['apis'])} | {row['instead']} | {rules(row)} |\n" for row in replacements)
    return f"""{MADE_FROM.format("replacements.toml")}
# Calls that a capture refuses or leaves out

In some capture mode, on some stream or from some thread, CUDA refuses these calls or leaves them out of the graph:
[the measured table](../measured/legality.md) says which. `capgate explain CALL` prints a row.
The rules are those that speak of the call on the thread that captures; on another thread it is
[cross-thread-call](cross-thread-call.md).

| call | instead | rules |
| --- | --- | --- |
{rows}"""


def pages(rules, situations, replacements):
    made = {f"{rule['id']}.md": rule_page(rule, situations.get(rule["id"], [])) for rule in rules}
    return {"README.md": index(rules), "calls.md": calls(replacements)} | made
