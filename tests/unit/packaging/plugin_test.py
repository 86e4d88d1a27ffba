"""`pytest --capgate`: what becomes of a test, by the report of its own process. The reports are of recorded runs; no GPU is needed."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = pathlib.Path(os.environ["CAPGATE_SOURCE"])
CONFTEST = """
import os
import pytest

@pytest.fixture
def recorded():
    def as_if(trace):
        with open(os.environ["RECORDED_AS"], "w") as out:
            out.write(trace)
    return as_if
"""


def python_with_pytest():
    for python in (sys.executable, "/usr/bin/python3"):
        if os.access(python, os.X_OK) and not subprocess.run([python, "-c", "import pytest"], capture_output=True).returncode:
            return python
    return None


PYTHON = python_with_pytest()


class Plugin(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = pathlib.Path(folder.name)
        (self.here / "conftest.py").write_text(CONFTEST)

    def pytest(self, text, *options):
        """The run of a test file: its output, and {test: its result}."""
        (self.here / "test_it.py").write_text("import os\nimport pytest\n" + textwrap.dedent(text))
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "CAPGATE"))}
        environment |= {
            "PYTHONPATH": f"{SOURCE}/packaging/python:{SOURCE}/detector/python", "PYTHONDONTWRITEBYTECODE": "1", "CAPGATE_SOURCE": str(SOURCE),
            "CAPGATE": str(HERE / "recorded_capgate.py"), "REAL_CAPGATE": os.environ["CAPGATE"], "NO_COLOR": "1", "COLUMNS": "200",
            "RECORDED_AS": str(self.here / "recorded_as"), "AUDITED": str(self.here / "audited"),
        }  # fmt: skip
        done = subprocess.run(
            [PYTHON, "-m", "pytest", "-p", "capgate.pytest_plugin", "-rA", "-v", "-p", "no:cacheprovider", "test_it.py", *options],
            cwd=self.here, env=environment, capture_output=True, text=True, timeout=200,
        )  # fmt: skip
        self.output = done.stdout + done.stderr
        self.assertNotIn("INTERNALERROR", self.output)
        self.code = done.returncode
        return dict(re.findall(r"^test_it\.py::(\S+) (PASSED|FAILED|SKIPPED|XFAIL|XPASS|ERROR)", self.output, re.MULTILINE))

    def test_a_fault_fails_the_test_with_its_line(self):
        found = self.pytest(
            """
            def test_faulty(recorded):
                recorded("python/item_in_helper.faulty")

            def test_clean(recorded):
                recorded("python/item_in_helper.clean")

            def test_of_its_own():
                assert 1 + 1 == 3
            """,
            "--capgate",
        )
        self.assertEqual(found, {"test_faulty": "FAILED", "test_clean": "PASSED", "test_of_its_own": "FAILED"}, self.output)
        self.assertEqual(self.code, 1)
        self.assertIn("gate: fail - CAPTURE DIES at tests/corpus/python/item_in_helper.py:12 temperature()", self.output)
        self.assertIn("assert (1 + 1) == 3", self.output)
        self.assertIn("3 tests audited, 2 of them captured or marked a step", self.output)
        (kept,) = (self.here / "capgate-reports").iterdir()
        self.assertIn(f"capgate show capgate-reports/{kept.name}", self.output)

    def test_without_the_option_nothing_is_audited(self):
        found = self.pytest('def test_faulty(recorded): recorded("python/item_in_helper.faulty")')
        self.assertEqual((found, self.code), ({"test_faulty": "PASSED"}, 0), self.output)
        self.assertFalse((self.here / "audited").exists())

    def test_each_test_has_a_process_of_its_own_and_the_results_of_pytest(self):
        found = self.pytest(
            """
            import capgate_marks
            outside = os.environ.get("OUTSIDE")

            @pytest.mark.parametrize("name", ["a/b::c", "[x]"])
            def test_parameters(name, capsys, tmp_path, monkeypatch):
                assert "INSIDE" not in os.environ
                os.environ["INSIDE"] = "1"

            class TestGroup:
                def test_method(self):
                    assert "INSIDE" not in os.environ

            @pytest.mark.skip(reason="not today")
            def test_skipped(): pass

            @pytest.mark.xfail(reason="known")
            def test_expected_to_fail(): assert False

            @pytest.fixture
            def broken(): raise OSError("no such disk")

            def test_with_broken_fixture(broken): pass

            def test_killed(recorded):
                recorded("python/item_in_helper.clean")
                os.kill(os.getpid(), 9)

            def test_prints(recorded):
                recorded("python/item_in_helper.clean")
                print("what it prints")
            """,
            "--capgate",
        )
        self.assertEqual(found.pop("TestGroup::test_method"), "PASSED", self.output)
        self.assertEqual(found.pop("test_killed"), "FAILED", self.output)
        self.assertIn("the process of this test ended before the test did", self.output)
        self.assertEqual(found.pop("test_skipped"), "SKIPPED")
        self.assertEqual(found.pop("test_expected_to_fail"), "XFAIL")
        self.assertEqual(found.pop("test_with_broken_fixture"), "ERROR")
        self.assertIn("no such disk", self.output)
        self.assertEqual(set(found.values()), {"PASSED"}, self.output)
        self.assertIn("what it prints", self.output)

    def test_what_is_expected(self):
        found = self.pytest(
            """
            @pytest.mark.capgate(expect="host-sync")
            def test_has_it(recorded): recorded("python/item_in_helper.faulty")

            @pytest.mark.capgate(expect="host-sync")
            def test_has_it_not(recorded): recorded("python/item_in_helper.clean")

            @pytest.mark.capgate(expect=["freed-memory"])
            def test_has_another(recorded): recorded("python/item_in_helper.faulty")

            @pytest.mark.capgate(skip="reads the keyboard")
            def test_not_audited(recorded): recorded("python/item_in_helper.faulty")

            @pytest.mark.capgate(region=["decode*", "prefill"])
            def test_regions(recorded): recorded("python/item_in_helper.clean")
            """,
            "--capgate",
        )
        self.assertEqual(
            found,
            {
                "test_has_it": "PASSED", "test_has_it_not": "FAILED", "test_has_another": "FAILED", "test_not_audited": "PASSED",
                "test_regions": "PASSED",
            },
            self.output,
        )  # fmt: skip
        self.assertIn("capgate: no error of host-sync, which the marker expects", self.output)
        self.assertIn("capgate: errors of host-sync, which the marker does not expect", self.output)
        audits = (self.here / "audited").read_text().splitlines()
        self.assertEqual(len(audits), 4)
        self.assertIn("--region decode* --region prefill", audits[-1])

    def test_a_marker_with_a_mistake_is_named_before_anything_runs(self):
        for mark in ('expects="host-sync"', '"host-sync"', "skip=True"):
            with self.subTest(mark=mark):
                found = self.pytest(f"@pytest.mark.capgate({mark})\ndef test_it(): pass\n", "--capgate")
                self.assertEqual((found, self.code), ({}, 4), self.output)
                self.assertIn("test_it", self.output)

    def test_what_is_not_judged_is_no_pass(self):
        found = self.pytest(
            """
            def test_inconclusive(recorded): recorded("cpp/killed_worker.faulty")

            def test_without_its_graph(recorded): recorded("python/compile_skips_cpu.faulty")

            def test_no_report(recorded): recorded("nothing")

            def test_fails_by_itself(recorded):
                recorded("python/item_in_helper.faulty")
                assert False
            """,
            "--capgate",
        )
        self.assertEqual(set(found.values()), {"FAILED"}, self.output)
        self.assertEqual(len(found), 4)
        self.assertIn("what this test captures could not be judged: process 6366", self.output)
        self.assertIn("what this test captures could not be judged: no capture completed: torch.compile", self.output)
        self.assertIn("the audit wrote no report", self.output)
        self.assertIn("CAPTURE DIES", self.output, "a test that fails by itself shows the fault as well")

    def test_verify_replay_is_a_fixture(self):
        found = self.pytest(
            """
            def test_no_inputs(verify_replay):
                with pytest.raises(ValueError, match="1 input set"):
                    verify_replay(eager=lambda: None, load=lambda i: None, inputs=1)
                assert verify_replay.keywords["name"] == "test_no_inputs"
            """
        )
        self.assertEqual(found, {"test_no_inputs": "PASSED"}, self.output)


if __name__ == "__main__":
    if not PYTHON:
        print("skipped: no Python here has pytest")
        sys.exit(77)
    unittest.main()
