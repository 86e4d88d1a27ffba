"""`capgate lint --explain FILE:LINE` and `--dump-tree FUNCTION`: what the analysis met, and how it got there."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

CAPGATE = os.environ["CAPGATE"]
SOURCE = pathlib.Path(os.environ["CAPGATE_SOURCE"])
UNITS = SOURCE / "tests/corpus_static/units/across_files"
OPEN_CALL = """
#include <cuda_runtime.h>
void step(void (*work)(), cudaStream_t s) {
  cudaGraph_t g;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  work();
  cudaStreamEndCapture(s, &g);
}
#if 0
void gone() {}
#endif
"""


class Explain(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.work = pathlib.Path(folder.name)

    def lint(self, *words, files=None, root=UNITS):
        files = sorted(UNITS.glob("*.cu")) if files is None else files
        return subprocess.run(
            [CAPGATE, "lint", "--root", root, *words, *files, "--"],
            capture_output=True,
            text=True,
            env=os.environ | {"XDG_CACHE_HOME": str(self.work / "cache")},
        )

    def explained(self, line, **more):
        done = self.lint("--explain", line, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def test_a_call_that_is_not_judged_says_why(self):
        out = self.explained(f"{UNITS}/debug.cu:10")
        self.assertIn("debug.cu:10 is in flush(), debug.cu:7-12\n", out)
        way = "\nfrom capture at decode.cu:6\n    decode.cu:6: 'capture at decode.cu:6' begins\n    decode.cu:7: calls attention()\n    layer.cu:8: calls flush()\n"
        self.assertIn(way, out)
        self.assertIn("  calls cudaDeviceSynchronize(), modelled as wait\n", out)
        self.assertIn("where a test says that nothing is being captured: not judged\n", out)
        self.assertNotIn("host-sync", out)

    def test_a_finding_says_which_rule_and_which_way(self):
        out = self.explained(f"{UNITS}/debug.cu:4")
        self.assertIn("    layer.cu:8: calls flush()\n    debug.cu:11: calls wait()\n", out)
        self.assertIn("  host-sync: cudaStreamSynchronize waits for the device\n", out)

    def test_a_device_value_says_where_it_comes_from(self):
        out = self.explained(f"{UNITS}/layer.cu:14")
        self.assertRegex(out, r"  device-sized: .*cudaMemcpy\)\n      layer\.cu:13: .*cudaMemcpy")

    def test_a_function_that_no_region_reaches(self):
        out = self.explained(f"{UNITS}/debug.cu:14")
        self.assertIn("is reached from no region of this unit", out)
        self.assertIn("is called by no function of this unit", out)
        self.assertIn("the line was not reached: nothing on it was judged", out)

    def test_a_call_through_a_pointer(self):
        source = self.work / "step.cu"
        source.write_text(OPEN_CALL)
        out = self.explained(f"{source}:6", files=[source], root=self.work)
        self.assertIn("calls what is known only when the program runs: not analysed", out)
        self.assertIn(
            "not analysed: the callee of 'work' at line 6 is known only when it runs; it is reached from capture at step.cu:5", out
        )
        done = self.lint("--explain", f"{source}:10", files=[source], root=self.work)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done.stderr)
        self.assertIn("the preprocessor keeps the line", done.stderr)

    def test_the_cache_neither_hides_an_explanation_nor_keeps_one(self):
        done = self.lint("--no-cache", "--explain", f"{UNITS}/debug.cu:10")
        self.assertEqual(done.returncode, 0, done.stderr)
        fresh = done.stdout
        before = self.lint()
        self.assertEqual(self.explained(f"{UNITS}/debug.cu:10"), fresh)
        after = self.lint()
        self.assertEqual((before.returncode, before.stdout), (after.returncode, after.stdout))
        self.assertEqual(before.returncode, 1)

    def test_a_tree_has_calls_types_and_places(self):
        done = self.lint("--dump-tree", "flush")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.count("flush() at debug.cu:7\n"), 1)
        for line in (
            "  calls cudaDeviceSynchronize(): modelled as wait\n",
            "  calls wait(): its body is in this unit\n",
            "    when  10:3\n      condition: binary ==",
            "      then: call cudaDeviceSynchronize()",
            "    call wait()  11:3\n",
        ):
            self.assertIn(line, done.stdout)

    def test_wrong_usage_is_one_sentence(self):
        for words, said in (
            (["--dump-tree", "no_such_function"], "no function no_such_function has a body in these sources"),
            (["--explain", "debug.cu"], "--explain takes FILE:LINE"),
            (["--explain", f"{UNITS}/debug.cu:0"], "--explain takes FILE:LINE"),
            (["--explain", "/nowhere.cu:3"], "there is no file /nowhere.cu"),
            (["--explain", f"{UNITS}/debug.cu:4", "--out", "-"], "--out"),
            ([UNITS], f"{UNITS}: is a folder: options behind -- compile files that are named"),
        ):
            with self.subTest(words=words):
                done = self.lint(*words)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(said, done.stderr)


if __name__ == "__main__":
    if "lint" not in os.environ["CAPGATE_COMMANDS"].split(","):
        print("capgate lint is not part of this build")
        sys.exit(77)
    unittest.main()
