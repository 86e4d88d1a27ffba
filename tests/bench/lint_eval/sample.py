#!/usr/bin/env python3
"""Draws findings to judge, and joins them with the judgements made so far.

sample.py REPORTS --mode region          every finding of region mode
sample.py REPORTS --mode whole [--count 60] [--seed 7]   findings outside regions, drawn by lot

judged.json maps "code base|rule|file:line" to [verdict, reason]; verdict is true, false or guarded (true as the rule reads, but a condition that the
host tests keeps the path out of every capture).
"""
import argparse
import collections
import json
import pathlib
import random

JUDGED = pathlib.Path(__file__).with_name("judged.json")


def reports_of(folder):
    """One report a code base: that of whole-file mode where there is one, since it holds what region mode says as well."""
    found = {}
    for mode in ("region", "whole"):
        for path in sorted(folder.glob(f"*.{mode}.json")):
            found[path.name.removesuffix(f".{mode}.json")] = path
    return found


def findings(folder, mode):
    """What region mode says, or what whole-file mode adds to it: device values that decide outside of regions, as warnings."""
    for base, path in sorted(reports_of(folder).items()):
        for violation in json.loads(path.read_text())["violations"]:
            added = violation["severity"] == "warning" and violation["rule"] in ("host-branch", "device-sized")
            if added == (mode == "whole") and not violation["suppressed"]:
                where = violation["location"]
                yield f"{base}|{violation['rule']}|{where['file']}:{where['line']}", violation


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reports", type=pathlib.Path)
    parser.add_argument("--mode", choices=["region", "whole"], required=True)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--severity", default="")
    parser.add_argument("--steps", action="store_true", help="show each finding's path")
    options = parser.parse_args()
    judged = json.loads(JUDGED.read_text()) if JUDGED.exists() else {}
    drawn = sorted(findings(options.reports, options.mode), key=lambda one: (one[0], one[1]["location"]["column"]))
    if options.severity:
        drawn = [one for one in drawn if one[1]["severity"] == options.severity]
    total = len(drawn)
    if options.mode == "whole":
        drawn = sorted(random.Random(options.seed).sample(drawn, min(options.count, total)), key=lambda one: one[0])
    count = collections.Counter()
    for key, violation in drawn:
        verdict, reason = judged.get(key, ["unjudged", ""])
        count[violation["severity"], verdict] += 1
        print(f"{verdict:9} {violation['severity']:8} {key}  {violation['message']}" + (f"  -- {reason}" if reason else ""))
        for step in (violation.get("flow") or []) if options.steps else ():
            print(f"            {pathlib.PurePath(step['file']).name}:{step['line']} {step['message']}")
    print(
        f"{len(drawn)} of {total}: " + ", ".join(f"{severity} {verdict} {number}" for (severity, verdict), number in sorted(count.items()))
    )


if __name__ == "__main__":
    main()
