"""What docs/launchers.md promises of runs of several processes: shown with the tests' CUDA, which needs no GPU."""

import json
import os
import subprocess
import sys
import unittest

from promise import CAPGATE, Promises, promise

PAGE = "docs/launchers.md"
FAKE = os.environ.get("FAKE_FOLDER", "")
PROGRAM = os.environ.get("FAKE_PROGRAM", "")


class LaunchersPage(Promises):
    @staticmethod
    def fake():
        return {"LD_PRELOAD": f"{FAKE}/libcupti.so.13", "LD_LIBRARY_PATH": FAKE}

    def audit(self, *program, out="audit.json", **environment):
        """A launcher's run; its exit code and report."""
        code = self.run_capgate("audit", "--out", out, "--", *program, env=self.fake() | environment).returncode
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
        "Where a daemon starts the program, an audit around the client sees nothing of it and is inconclusive",
        "sees the client and not the program, which the container's daemon starts, and is inconclusive",
        "What starts a program elsewhere has to start `capgate audit` there.",
    )
    def test_a_program_that_a_daemon_starts_is_seen_only_there(self):
        client = self.write("client", 'echo "$*" > jobs\nuntil [ -s status ]; do sleep 0.02; done\nexit $(cat status)\n')
        os.mkfifo(self.here / "jobs")
        for job, seen in (([PROGRAM, "clean"], 0), ([CAPGATE, "audit", "--out", "inside.json", "--", PROGRAM, "clean"], 1)):
            with self.subTest(job=job[0]):
                (self.here / "status").unlink(missing_ok=True)
                self.write("daemon", "read -r job < jobs\n$job\necho $? > done\nmv done status\n")
                daemon = subprocess.Popen(["bash", "daemon"], cwd=self.here, env=os.environ | self.fake())
                code, report = self.audit("bash", client, *job)
                self.assertEqual(daemon.wait(60), 0)
                self.assertEqual((self.here / "status").read_text(encoding="utf-8"), "0\n", "the program ran")
                self.assertEqual((code, report["verdict"], report["coverage"]["processes"]), (2, "inconclusive", []))
                self.assertEqual((self.here / "inside.json").exists(), bool(seen))
        inside = json.loads((self.here / "inside.json").read_text(encoding="utf-8"))
        self.assertEqual((inside["verdict"], len(inside["coverage"]["processes"])), ("pass", 1))


if __name__ == "__main__":
    if os.environ.get("CAPGATE_SANITIZE"):
        print("the preloaded library does not share a process with a sanitizer")
        sys.exit(77)
    unittest.main()
