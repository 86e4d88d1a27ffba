#!/usr/bin/env python3
"""Is every line that the framework's sync mode warns about in the report, at least as often a step?

compare_sync_mode.py REPORT SYNC.json     (SYNC.json: deepseek_v4_step.py --sync-debug)
"""

import json
import sys
from pathlib import Path

# What the sync mode means by a wait: the rules that such a call may be reported under.
WAITS = {"host-sync", "host-poll", "sync-copy", "pageable-copy"}


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    report, sync = (json.loads(Path(path).read_text(encoding="utf-8")) for path in sys.argv[1:])
    occurrences = sum(region["occurrences"] for region in report["coverage"]["regions"])
    found = {}
    for violation in report["violations"]:
        if violation["rule"] in WAITS:
            place = violation["location"]
            key = ("/".join(place["file"].split("/")[-2:]), place["line"])
            found[key] = max(found.get(key, 0), violation["count"])
    missing = 0
    for line, count in sync["lines"].items():
        file, number = line.rsplit(":", 1)
        seen = found.get(("/".join(file.split("/")[-2:]), int(number)), 0)
        print(f"{count:4d} a step by the sync mode, {seen:4d} in all reported: {line}")
        missing += seen < count
    print(f"{len(found)} lines reported, {len(sync['lines'])} by the sync mode, {missing} missing; {occurrences} steps")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
