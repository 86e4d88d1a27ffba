"""capgate env and collect: programs that somebody else starts, on several ranks and machines, with the tests' CUDA."""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

CAPGATE = os.environ["CAPGATE"]
SOURCE = pathlib.Path(os.environ["CAPGATE_SOURCE"])
FAKE = os.environ["FAKE_FOLDER"]
PROGRAM = os.environ["FAKE_PROGRAM"]
CUDA = {"LD_PRELOAD": f"{FAKE}/libcupti.so.13", "LD_LIBRARY_PATH": FAKE}


class Launch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = pathlib.Path(folder.name)
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("CUDA_", "NVTX_", "CAPGATE_"))} | CUDA

    def run_here(self, *words, **environment):
        return subprocess.run(
            list(map(str, words)), cwd=self.here, env=self.environment | environment, capture_output=True, text=True, timeout=120
        )

    def output(self, *words, code=0, **environment):
        done = self.run_here(*words, **environment)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def variables(self, *words):
        return json.loads(self.output(CAPGATE, "env", "traces", "--for", "json", *words))

    def rank(self, number, mode):
        """What a launcher does: starts a program that knows nothing of capgate, in an environment that does."""
        self.output(PROGRAM, mode, **self.variables(), RANK=str(number))

    def collect(self, code, *words):
        done = self.run_here(CAPGATE, "collect", "traces", "--out", "report.json", *words)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stderr, json.loads((self.here / "report.json").read_text())

    def test_ranks_are_judged_together(self):
        for number in range(4):
            self.rank(number, "broken" if number in (1, 3) else "clean")
        text, report = self.collect(1)
        self.assertEqual(sorted(process["rank"] for process in report["coverage"]["processes"]), [0, 1, 2, 3])
        (fault,) = report["violations"]
        self.assertEqual((fault["rule"], len(fault["processes"])), ("host-sync", 2))
        self.assertRegex(text, r"\non ranks 1, 3 of 4 +host-sync [^\n]*:\d+\nReport: report\.json\n$")

    def test_a_fault_of_all_ranks_is_one(self):
        for number in range(3):
            self.rank(number, "broken")
        text, report = self.collect(1)
        self.assertEqual(len(report["violations"]), 1)
        self.assertRegex(text, r"(?m)^on 3 of 3 ranks +host-sync ")

    def test_clean_ranks_pass(self):
        for number in range(2):
            self.rank(number, "clean")
        text, report = self.collect(0)
        self.assertEqual(report["verdict"], "pass")
        self.assertEqual((report["subject"]["program"], report["violations"]), (pathlib.Path(PROGRAM).name, []))
        self.assertEqual(self.collect(0)[1], report, "a second time gives the same")

    def test_machines_have_folders_of_their_own(self):
        self.rank(0, "clean")
        (own,) = (self.here / "traces").iterdir()
        self.rank(1, "broken")
        other = own.with_name("other-machine")
        other.mkdir()
        newest = max(own.glob("*.cgraw"), key=lambda file: file.stat().st_mtime_ns)
        newest.rename(other / newest.name)
        text, report = self.collect(1)
        self.assertEqual(sorted(process["rank"] for process in report["coverage"]["processes"]), [0, 1])
        self.assertRegex(text, r"(?m)^on rank 1 of 2 +host-sync ")
        self.assertEqual(report["tool"]["component"], "merge")

    def test_reports_and_sealed_traces_count_as_well(self):
        folder = self.here / "traces"
        folder.mkdir()
        for name in ("cpp/all_at_once.faulty.cgtrace",):
            (folder / "one.cgtrace").write_bytes((SOURCE / "tests/traces" / name).read_bytes())
        _, report = self.collect(1)
        self.assertEqual(report, json.loads((SOURCE / "tests/traces/cpp/all_at_once.faulty.json").read_text()))
        (folder / "one.cgtrace").unlink()
        (folder / "one.json").write_bytes((SOURCE / "tests/traces/cpp/all_at_once.faulty.json").read_bytes())
        (folder / "other.json").write_text("{}")
        self.assertEqual(self.collect(1)[1], report)

    def test_the_shell_takes_what_sh_prints(self):
        folder = "it's traces"
        self.output("bash", "-euc", f'eval "$({shlex.quote(CAPGATE)} env {shlex.quote(folder)} --region "a b*")"; exec "$0" clean', PROGRAM)
        (own,) = (self.here / folder).iterdir()
        self.assertEqual(len(list(own.glob("*.cgraw"))), 1)
        self.output(CAPGATE, "collect", folder, "--out", "report.json")

    def test_each_form_says_the_same(self):
        wanted = self.variables()
        self.assertEqual(wanted["CAPGATE_TRACE_DIR"], str(next((self.here / "traces").iterdir()).resolve()))
        self.assertIn(CUDA["LD_PRELOAD"], wanted["LD_PRELOAD"], "what was preloaded before stays")

        def form(name):
            return self.output(CAPGATE, "env", "traces", "--for", name).strip()

        found = {
            "docker": dict(re.findall(r"--env (\w+)=(\S+)", form("docker"))),
            "mpirun": dict(re.findall(r"-x (\w+)=(\S+)", form("mpirun"))),
            "srun": dict(pair.split("=", 1) for pair in form("srun").removeprefix("--export=ALL,").split(",")),
            "systemd": dict(re.findall(r'Environment="(\w+)=([^"]*)"', form("systemd"))),
        }
        for name, variables in found.items():
            self.assertEqual(variables, wanted, name)
        library = str(pathlib.Path(wanted["CAPGATE_PRELOAD"]).parent)
        self.assertIn(f"--volume {library}:{library}", form("docker"))

    def test_what_a_form_cannot_say_is_refused(self):
        for form, glob in (("srun", "a,b"), ("docker", "a b"), ("systemd", 'a"b')):
            with self.subTest(form=form):
                done = self.run_here(CAPGATE, "env", "traces", "--for", form, "--region", glob)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn("cannot hold the value of CAPGATE_REGIONS", done.stderr)
        self.assertEqual(self.run_here(CAPGATE, "env", "traces", "--for", "lsf").returncode, 2)

    def test_one_rank_is_audited_and_the_others_run(self):
        words = (
            CAPGATE,
            "audit",
            "--rank",
            "1",
            "--out",
            "rank.json",
            "--",
            "sh",
            "-c",
            'echo "${CAPGATE_PRELOAD:-alone}"; exec "$0" broken',
            PROGRAM,
        )
        for variable, number in (("RANK", 0), ("SLURM_PROCID", 2), ("OMPI_COMM_WORLD_RANK", 11)):
            with self.subTest(variable=variable):
                done = self.run_here(*words, **{variable: str(number)})
                self.assertEqual((done.returncode, done.stdout), (0, "alone\n"), done.stderr)
                self.assertFalse((self.here / "rank.json").exists())
        done = self.run_here(*words, RANK="1")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertNotIn("alone", done.stdout)
        (process,) = json.loads((self.here / "rank.json").read_text())["coverage"]["processes"]
        self.assertEqual(process["rank"], 1)
        done = self.run_here(*words)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("--rank 1: none of RANK, ", done.stderr)
        self.assertEqual(self.run_here(CAPGATE, "audit", "--rank", "first", "--", "true").returncode, 2)

    def test_a_python_function_is_a_step(self):
        (self.here / "site").mkdir()
        (self.here / "site/sitecustomize.py").write_text("print('the other sitecustomize')\n")
        (self.here / "package").mkdir()
        (self.here / "package/__init__.py").write_text("")
        (self.here / "package/model.py").write_text(
            "class Model:\n"
            "    def step(self, x): return x + 1\n"
            "    @staticmethod\n"
            "    def still(x): return x\n"
            "def free(x, *, y): return x * y\n"
        )
        (self.here / "main.py").write_text(
            "import ctypes\n"
            "ctypes.CDLL('libcuda.so.1').cuInit(0)\n"
            "from package.model import Model, free\n"
            "print(Model().step(1), Model().step(2), Model.still(3), free(2, y=4))\n"
        )
        functions = ("Model.step", "Model.still", "free", "Model.gone")
        words = [word for name in functions for word in ("--region-fn", f"package.model:{name}")]
        done = self.run_here(CAPGATE, "audit", *words, "--out", "steps.json", "--", sys.executable, "main.py", PYTHONPATH="site")
        self.assertEqual(done.stdout, "the other sitecustomize\n2 3 3 8\n", done.stderr)
        self.assertIn("capgate: --region-fn package.model:Model.gone: package.model has no function Model.gone", done.stderr)
        regions = json.loads((self.here / "steps.json").read_text())["coverage"]["regions"]
        self.assertEqual(
            {region["name"]: region["occurrences"] for region in regions},
            {"package.model:Model.step": 2, "package.model:Model.still": 1, "package.model:free": 1},
        )
        for wrong in ("step", "a:", ":b", "a:b:c", "a b:c"):
            self.assertEqual(self.run_here(CAPGATE, "audit", "--region-fn", wrong, "--", "true").returncode, 2, wrong)

    def test_nothing_to_collect(self):
        self.assertIn("is not a folder", self.run_here(CAPGATE, "collect", "traces").stderr)
        self.variables()
        done = self.run_here(CAPGATE, "collect", "traces")
        self.assertEqual(done.returncode, 2)
        self.assertIn("has no trace and no report", done.stderr)


if __name__ == "__main__":
    unittest.main()
