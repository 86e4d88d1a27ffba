#!/usr/bin/env python3
"""What each program of the corpus must and must not raise.

expect.py list --build DIR          every program to audit, as JSON
expect.py show SOURCE VARIANT       what its report has to look like, as JSON
expect.py judge REPORT SOURCE VARIANT
                                    0: the report is as expected; 1: it is not, one line a difference; 2: bad input
"""

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from expectations.judge import judge
from expectations.programs import programs
from expectations.source import VARIANTS, BadExpectation, read_expected


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list")
    listing.add_argument("--build", required=True, help="build directory with bin/corpus and bin/healthy")
    listing.add_argument("--python", default="python3")
    listing.add_argument("--root", help="where the repository lies on the machine that runs them (default: here)")
    listing.add_argument("--kind", choices=["cpp", "python", "healthy", "engine"])
    showing = commands.add_parser("show")
    judging = commands.add_parser("judge")
    judging.add_argument("report")
    for command in (showing, judging):
        command.add_argument("source")
        command.add_argument("variant", choices=VARIANTS)
    arguments = parser.parse_args()

    try:
        if arguments.command == "list":
            found = programs(arguments.build, arguments.python, arguments.root)
            found = [p for p in found if arguments.kind in (None, p["kind"])]
            print(json.dumps(found, indent=1))
            return 0
        expected = read_expected(arguments.source, arguments.variant)
        if arguments.command == "show":
            print(json.dumps(expected.as_json(), indent=1))
            return 0
        report = json.loads(Path(arguments.report).read_text(encoding="utf-8"))
        complaints = judge(report, expected)
    except (BadExpectation, OSError, ValueError, KeyError) as error:
        print(f"expect.py: {error!r}" if isinstance(error, KeyError) else f"expect.py: {error}", file=sys.stderr)
        return 2
    for complaint in complaints:
        print(f"{arguments.report}: {complaint}")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
