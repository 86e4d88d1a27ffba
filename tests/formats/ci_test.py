"""The files of ci/ and the pre-commit hook, by running what they run."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.append("/usr/lib/python3/dist-packages")  # Debian's packages, for a Python that is not Debian's
import yaml  # noqa: E402

CAPGATE = pathlib.Path(os.environ["CAPGATE"])
SOURCE = pathlib.Path(os.environ["CAPGATE_SOURCE"])
WITH_LINT = os.environ["CAPGATE_WITH_LINT"] == "1"
TRACES = SOURCE / "tests" / "traces" / "cpp"
FAULTY = TRACES / "copy_stream_escape.faulty.json"
CLEAN = TRACES / "copy_stream_escape.clean.json"
WRITTEN = ["capgate.json", "capgate.html", "capgate.sarif", "gl-code-quality-report.json", "junit.xml", "capgate.md", "metrics.json"]

# A captured step that waits, as a project without CUDA's headers at hand could hold it.
STEP = """
#include <cuda_runtime.h>
void step(float* out, cudaStream_t stream) {
  cudaMemsetAsync(out, 0, 4, stream);
  %s
}
void capture(float* out, cudaStream_t stream) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  step(out, stream);
  cudaStreamEndCapture(stream, &graph);
}
"""


class Job(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = pathlib.Path(folder.name)
        self.path = {"PATH": f"{CAPGATE.parent}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(self.here / "cache")}

    def run_here(self, words, environment=()):
        return subprocess.run(
            words,
            cwd=self.here,
            env=dict(os.environ) | self.path | dict(environment),
            capture_output=True,
            text=True,
            timeout=240,
        )

    def project(self, line):
        """A git repository with one source and its compile database, committed."""
        (self.here / "step.cpp").write_text(STEP % line)
        command = ["g++", "-std=c++17", "-I/usr/local/cuda/include", "-c", "step.cpp"]
        entry = {"directory": str(self.here), "file": "step.cpp", "arguments": command}
        (self.here / "build").mkdir(exist_ok=True)
        (self.here / "build/compile_commands.json").write_text(json.dumps([entry]))
        for words in (["init", "-q"], ["add", "step.cpp"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a: b"]):
            subprocess.run(["git", *words], cwd=self.here, check=True)

    def assert_written(self, out="capgate-report"):
        for name in WRITTEN:
            self.assertTrue((self.here / out / name).stat().st_size, name)


class Judge(Job):
    def judge(self, *words, environment=()):
        return self.run_here([SOURCE / "ci" / "judge", *map(str, words)], environment)

    def test_the_verdict_is_the_exit_code_and_everything_is_written(self):
        for report, code in ((FAULTY, 1), (CLEAN, 0)):
            done = self.judge(report)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assert_written()
            written = json.loads((self.here / "capgate-report/capgate.json").read_text())
            self.assertEqual(written["verdict"], {1: "fail", 0: "pass"}[code])

    def test_what_an_earlier_run_left_does_not_decide(self):
        self.judge(CLEAN)
        done = self.judge(self.here / "missing.json")
        self.assertNotEqual(done.returncode, 0)
        self.assertFalse((self.here / "capgate-report/capgate.html").exists())

    def test_a_baseline_lets_known_faults_pass_and_may_be_missing(self):
        self.assertEqual(self.judge("--baseline", FAULTY, FAULTY).returncode, 0)
        done = self.judge("--baseline", "none.json", FAULTY)
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no baseline none.json", done.stderr)

    def test_numbers_of_an_earlier_run_may_not_get_worse(self):
        self.judge("--out", "main", CLEAN)
        self.assertEqual(self.judge("--no-worse-than", "main/metrics.json", CLEAN).returncode, 0)
        numbers = json.loads((self.here / "main/metrics.json").read_text())
        (self.here / "better.json").write_text(json.dumps(numbers | {"buckets_captured": numbers["buckets_captured"] + 1}))
        done = self.judge("--no-worse-than", "better.json", CLEAN)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("buckets_captured", done.stdout)
        done = self.judge("--no-worse-than", "none.json", CLEAN)
        self.assertEqual(done.returncode, 0)
        self.assertIn("there is no none.json", done.stderr)
        for option in ("--no-worse-than", "--baseline"):
            done = self.judge(option, "main/metrics.json", "--out", "main", CLEAN)
            self.assertEqual(done.returncode, 2)
            self.assertIn("lies in the folder of --out", done.stderr)
        self.assertTrue((self.here / "main/metrics.json").exists())

    def test_wrong_usage_ends_with_2(self):
        for words, text in (
            ([], "nothing to judge"),
            (["--nonsense"], "there is no option '--nonsense'"),
            (["--out"], "--out needs a value"),
            (["--cache", "c", CLEAN], "--cache-dir is for lint"),
        ):
            done = self.judge(*words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(text, done.stderr)
        done = self.judge(CLEAN, environment={"CAPGATE": "/nowhere/capgate"})
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no program '/nowhere/capgate'", done.stderr)

    @unittest.skipUnless(WITH_LINT, "this build has no lint")
    def test_lint_takes_part(self):
        for line, code in (("cudaStreamSynchronize(stream);", 1), ("", 0)):
            self.project(line)
            done = self.judge("--build", "build")
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
            self.assert_written()
        done = self.judge("--build", "nowhere")
        self.assertEqual(done.returncode, 2)
        self.assertIn("capgate lint wrote no report", done.stderr)


class GitHub(Job):
    def setUp(self):
        super().setUp()
        self.action = yaml.safe_load((SOURCE / "ci/github/action.yml").read_text())
        self.step = self.action["runs"]["steps"][0]

    def inputs(self, given):
        """The step's variables as GitHub fills them."""
        values = {name: each["default"] for name, each in self.action["inputs"].items()} | given
        filled = {}
        for name, text in self.step["env"].items():
            key = text.removeprefix("${{ inputs.").removesuffix(" }}")
            self.assertIn(key, values, f"{name} names an input that the action does not have")
            filled[name] = values[key]
        return filled

    def run_step(self, given):
        more = {"GITHUB_ACTIONS": "true", "GITHUB_ACTION_PATH": str(SOURCE / "ci/github"), "GITHUB_STEP_SUMMARY": str(self.here / "s")}
        return self.run_here(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", self.step["run"]], self.inputs(given) | more)

    def test_a_fault_fails_the_step_with_an_annotation_and_a_summary(self):
        done = self.run_step({"audits": f"{FAULTY}\n\n"})
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("::error file=", done.stdout)
        self.assertIn("capgate", (self.here / "s").read_text())
        self.assert_written()

    def test_inputs_reach_the_gate_and_are_not_code(self):
        self.assertEqual(self.run_step({"audits": str(CLEAN)}).returncode, 0)
        self.assertEqual(self.run_step({"audits": str(FAULTY), "baseline": str(FAULTY)}).returncode, 0)
        done = self.run_step({"audits": str(CLEAN), "out": "$(touch broken)"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse((self.here / "broken").exists())
        self.assert_written("$(touch broken)")
        self.assertNotIn("${{", self.step["run"])

    def test_every_input_is_used_and_outputs_are_files_that_exist(self):
        used = json.dumps(self.action["runs"]["steps"])
        for name in self.action["inputs"]:
            self.assertIn(f"inputs.{name}", used)
        self.run_step({"audits": str(CLEAN)})
        for output in self.action["outputs"].values():
            self.assertTrue((self.here / output["value"].replace("${{ inputs.out }}", "capgate-report")).exists())


class GitLab(Job):
    def run_job(self, given):
        job = yaml.safe_load((SOURCE / "ci/gitlab/capgate.gitlab-ci.yml").read_text())[".capgate"]
        # As installed: the job finds ci/judge beside the program on the PATH.
        installed = self.here / "installed"
        for folder in ("bin", "share/capgate"):
            (installed / folder).mkdir(parents=True, exist_ok=True)
        program = installed / "bin/capgate"
        if not program.exists():
            program.write_text(f'#!/bin/sh\nexec "{CAPGATE}" "$@"\n')
            program.chmod(0o755)
            (installed / "share/capgate/ci").symlink_to(SOURCE / "ci")
        self.path = {"PATH": f"{installed / 'bin'}:{os.environ['PATH']}"}
        return self.run_here(["bash", "-eo", "pipefail", "-c", "\n".join(job["script"])], job["variables"] | given), job

    def test_the_job_ends_with_the_verdict_and_its_artifacts_exist(self):
        for report, code in ((FAULTY, 1), (CLEAN, 0)):
            done, job = self.run_job({"CAPGATE_AUDITS": str(report)})
            self.assertEqual(done.returncode, code, done.stderr)
            for path in job["artifacts"]["reports"].values():
                self.assertTrue((self.here / path).exists(), path)
            self.assertTrue((self.here / job["artifacts"]["paths"][0]).is_dir())

    def test_options_reach_the_gate(self):
        done, _ = self.run_job({"CAPGATE_AUDITS": str(FAULTY), "CAPGATE_BASELINE": str(FAULTY), "CAPGATE_OPTIONS": "--allow-eager"})
        self.assertEqual(done.returncode, 0, done.stderr)


@unittest.skipUnless(WITH_LINT, "this build has no lint")
class PreCommit(Job):
    def hook(self):
        entry = yaml.safe_load((SOURCE / ".pre-commit-hooks.yaml").read_text())[0]
        self.assertFalse(entry["pass_filenames"])
        return self.run_here([*entry["entry"].split(), "-p", "build"])

    def test_a_commit_that_brings_a_wait_is_stopped(self):
        self.project("")
        done = self.hook()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        (self.here / "step.cpp").write_text(STEP % "cudaStreamSynchronize(stream);")
        done = self.hook()
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("step.cpp:5", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
