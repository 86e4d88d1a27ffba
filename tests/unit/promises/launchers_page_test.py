"""What docs/launchers.md promises of runs of several processes: shown with the tests' CUDA, which needs no GPU."""

import json
import os
import sys
import unittest

from promise import Promises, promise

PAGE = "docs/launchers.md"
FAKE = os.environ.get("FAKE_FOLDER", "")
PROGRAM = os.environ.get("FAKE_PROGRAM", "")


class LaunchersPage(Promises):
    def audit(self, *program, out="audit.json", **environment):
        """A launcher's run; its exit code and report."""
        fake = {"LD_PRELOAD": f"{FAKE}/libcupti.so.13", "LD_LIBRARY_PATH": FAKE} | environment
        code = self.run_capgate("audit", "--out", out, "--", *program, env=fake).returncode
        return code, json.loads((self.here / out).read_text(encoding="utf-8"))

    @promise(
        PAGE,
        "`capgate audit` judges the processes that it starts, and those that these start",
        "each process is listed in the report with its `RANK`.",
        "A fault that several ranks have is one fault, with the processes that have it.",
    )
    def test_one_audit_around_a_launcher(self):
        ranks = " & ".join(f"RANK={rank} {PROGRAM} broken" for rank in range(3))
        code, report = self.audit("bash", "-c", f"{ranks} & wait")
        self.assertEqual(code, 1)
        processes = {process["pid"]: process["rank"] for process in report["coverage"]["processes"]}
        self.assertEqual(sorted(processes.values()), [0, 1, 2])
        (fault,) = report["violations"]
        self.assertEqual((fault["rule"], set(fault["processes"]), fault["count"]), ("host-sync", set(processes), 3))

    @promise(
        PAGE,
        "A rank that fails makes torchrun end with an error, and such a run is no pass:",
        "`capgate audit` then ends with 3 when nothing else is wrong.",
    )
    def test_a_rank_that_fails(self):
        self.assertEqual(self.audit(PROGRAM, "clean")[0], 0)
        code, report = self.audit("bash", "-c", f"{PROGRAM} clean; exit 5")
        self.assertEqual((code, report["verdict"]), (3, "inconclusive"))

    @promise(
        PAGE,
        "With several machines, each has its own report, and `merge` makes one of them",
        "Each task gets a report of its own, with its `SLURM_PROCID`, and `merge` joins them.",
    )
    def test_reports_of_tasks_are_joined(self):
        for rank in range(2):
            self.audit(PROGRAM, "broken", out=f"audit.{rank}.json", SLURM_PROCID=str(rank))
        merged = json.loads(self.output("merge", "audit.0.json", "audit.1.json"))
        self.assertEqual({process["rank"] for process in merged["coverage"]["processes"]}, {0, 1})
        (fault,) = merged["violations"]
        self.assertEqual((fault["count"], len(fault["processes"])), (2, 2))

    @promise(
        PAGE,
        "an audit around `srun` sees nothing of it",
        "sees the client and not the program, which the container's daemon starts, and is inconclusive",
    )
    def test_a_program_that_somebody_else_starts_is_not_seen(self):
        code, report = self.audit("true")
        self.assertEqual((code, report["verdict"], report["coverage"]["processes"]), (2, "inconclusive", []))


if __name__ == "__main__":
    if os.environ.get("CAPGATE_SANITIZE"):
        print("the preloaded library does not share a process with a sanitizer")
        sys.exit(77)
    unittest.main()
