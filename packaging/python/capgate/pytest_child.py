"""The half of the pytest plugin that runs under the audit: one test, with the options of the outer run.

    python -m capgate.pytest_child JOB.json

Writes each result as a line of JSON. Ends with 0 whatever the test did: its result is in that file, and the audit would take
another code for a program that failed.
"""

import json
import sys


class OneTest:
    def __init__(self, config, nodeid, results):
        self.config, self.nodeid, self.results = config, nodeid, results

    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if item.nodeid == self.nodeid]

    def pytest_runtest_logreport(self, report):
        data = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        with open(self.results, "a", encoding="utf-8") as out:
            out.write(json.dumps(data, default=str) + "\n")


def main(file):
    with open(file, encoding="utf-8") as text:
        job = json.load(text)
    from _pytest.config import Config

    options = job["options"]
    options["rootdir"], options["inifilename"] = job["rootdir"], job["inifile"]
    config = Config.fromdictargs(options, ["-p", "no:terminal", job["file"]])
    config._capgate_child = True
    config.pluginmanager.register(OneTest(config, job["nodeid"], job["results"]), "capgate-one-test")
    try:
        config.hook.pytest_cmdline_main(config=config)
    finally:
        config._ensure_unconfigure()


if __name__ == "__main__":
    main(sys.argv[1])
