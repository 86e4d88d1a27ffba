"""What `capgate explain` says is what is measured and recorded: severities, refused calls, who raises a rule."""

import json
import re
import unittest

from promise import GOLDEN, SOURCE, TRACES, Promises, promise

GRAVITY = ["note", "warning", "error"]
# Families of the measured table whose calls are work of a step: accepted without a node, they are left out of the graph.
WORK = {"synchronous copy", "asynchronous copy", "host function"}


def gravest(words):
    return max((GRAVITY.index(word) for word in re.findall(r"note|warning|error", words)), default=0)


class Explain(Promises):
    def section(self, page, label):
        """The cell of a page's small table, whose lines may go on below."""
        found = re.search(rf"^  {re.escape(label)}  +(.*(?:\n {{10,}}.*)*)", page, re.MULTILINE)
        self.assertTrue(found, f"{label}: {page[:400]}")
        return " ".join(found[1].split())

    def test_no_recorded_finding_is_graver_than_its_page_says(self):
        pages, seen = {}, 0
        for path in [*TRACES.glob("*/*.json"), *GOLDEN.glob("failed_*.json")]:
            for fault in json.loads(path.read_text(encoding="utf-8"))["violations"]:
                rule = fault["rule"]
                page = pages.setdefault(rule, self.output("explain", rule))
                said = [self.section(page, "once per step")]
                if fault["phase"] != "between_replays":
                    said.append(self.section(page, "in a capture or a marked region"))
                with self.subTest(report=path.name, rule=rule, phase=fault["phase"]):
                    self.assertLessEqual(GRAVITY.index(fault["severity"]), gravest(" ".join(said)), said)
                seen += 1
        self.assertGreater(seen, 100)

    def test_a_page_names_who_raises_its_rule(self):
        commands = {"runtime": "capgate audit", "static": "capgate lint"}
        for rule in json.loads(self.output("rules", "--json"))["rules"]:
            planned = rule.get("status") == "planned"
            by = self.section(self.output("explain", rule["id"]), "to be seen by" if planned else "seen by")
            self.assertEqual(
                {command for command in commands.values() if command in by},
                {commands[kind] for kind in rule["seen_by"] if kind in commands},
            )

    @promise("capgate explain --help", "or a CUDA call that captures refuse (cudaMalloc)")
    def test_a_call_that_is_explained_is_refused_or_left_out_somewhere(self):
        cells = json.loads((SOURCE / "docs/measured/legality.json").read_text(encoding="utf-8"))["cells"]
        measured, refused = set(), set()
        for cell in cells:
            names = {"cudaLaunchKernel"} if cell["call"].startswith("kernel on") else set(re.findall(r"\bcu(?:da)?[A-Z]\w*", cell["call"]))
            measured |= names
            work = cell["family"] in WORK or cell["call"].startswith(("kernel on", "cudaGraphLaunch"))
            if (cell["result"], cell["status"], cell["end"]) != (0, "active", 0) or (work and cell["nodes"] == 1):
                refused |= names
        rows = json.loads(self.output("rules", "--json"))["replacements"]
        judged = [row["apis"] for row in rows if measured & set(row["apis"])]
        self.assertGreater(len(judged), 30)
        for apis in judged:
            self.assertTrue(refused & set(apis), apis)

    @promise("capgate explain --help", "A rule (host-sync), a situation that a report names (host-sync.torch-item)")
    def test_the_examples_of_the_help(self):
        for word in ("host-sync", "host-sync.torch-item", "cudaMalloc"):
            self.assertIn(word, self.output("explain", word).split("\n")[0])
        done = self.run_capgate("explain")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr.splitlines(), ["capgate: RULE is required", "Run `capgate explain --help` for the options."])


if __name__ == "__main__":
    unittest.main()
