"""Runs a command of reports/viewer's Node packages. Without them, or with --browser without Chromium, exits with 77 and says why.

    with_node.py [--browser] COMMAND...
"""

import pathlib
import re
import shutil
import subprocess
import sys

VIEWER = pathlib.Path(__file__).resolve().parents[2] / "reports" / "viewer"
LEAST = (20, 19)
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def missing(browser):
    """What keeps the command from being run; empty for nothing."""
    node = shutil.which("node")
    if not node or not shutil.which("npm"):
        return "there is no Node"
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    found = re.fullmatch(r"v(\d+)\.(\d+)\..*", version)
    if not found or tuple(map(int, found.groups())) < LEAST:
        return f"Node {version} is older than {LEAST[0]}.{LEAST[1]}"
    if not (VIEWER / "node_modules" / ".package-lock.json").is_file():
        return "its packages are not installed: scripts/deps installs them"
    if browser and not any(map(shutil.which, BROWSERS)):
        return "there is no Chromium: scripts/deps installs it"
    return ""


def main():
    words = sys.argv[1:]
    browser = words[:1] == ["--browser"]
    reason = missing(browser)
    if reason:
        print(f"skipped: {reason}")
        return 77
    return subprocess.run(words[browser:], cwd=VIEWER, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
