"""A finding of lint keeps its id where the sources changed around it and not in it."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

CAPGATE = os.environ["CAPGATE"]
STEP = """#include <cuda_runtime.h>

template <typename T>
void gather(T *out, const T *in, int n, cudaStream_t stream) {
  cudaMemcpy(out, in, n * sizeof(T), cudaMemcpyDeviceToHost);
  cudaMemcpy(out + n, in + n, n * sizeof(T), cudaMemcpyDeviceToHost);
  cudaStreamSynchronize(stream);
}

void step(float *out, const float *in, int n, cudaStream_t stream) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  gather(out, in, n, stream);
  cudaStreamEndCapture(stream, &graph);
}
"""


class Identity(unittest.TestCase):
    def lint(self, text, checkout="work", prefix="capgate-"):
        """The findings, and the report's path, of the text in a checkout of its own."""
        folder = tempfile.TemporaryDirectory(prefix=prefix)
        self.addCleanup(folder.cleanup)
        top = pathlib.Path(folder.name, checkout)
        (top / ".git").mkdir(parents=True)
        (top / "src").mkdir()
        (top / "src/step.cu").write_text(text, encoding="utf-8")
        out = pathlib.Path(folder.name, "lint.json")
        done = subprocess.run(
            [CAPGATE, "lint", "src/step.cu", "--no-cache", "--out", out], cwd=top, capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, 1, done.stderr)
        found = json.loads(out.read_text(encoding="utf-8"))["violations"]
        return {fault["location"]["line"]: fault["id"] for fault in found}, out

    def edited(self, old, new):
        self.assertIn(old, STEP)
        return STEP.replace(old, new)

    def assert_same(self, text, **where):
        ids, _ = self.lint(STEP)
        self.assertEqual(len(set(ids.values())), 3)
        now, _ = self.lint(text, **where)
        self.assertEqual([now[line] for line in sorted(now)], [ids[line] for line in sorted(ids)])

    def test_another_checkout_in_another_temporary_folder(self):
        self.assert_same(STEP, checkout="clone-of-it/engine", prefix="another-")

    def test_moved_lines(self):
        self.assert_same(self.edited("template", "// Moves\n// all\n// lines.\n\ntemplate"))

    def test_other_template_arguments(self):
        self.assert_same(
            STEP.replace("float *", "double *").replace("const float", "const double").replace("gather(out", "gather<double>(out")
        )

    def test_another_formatting(self):
        self.assert_same(self.edited("in + n, n * sizeof(T), ", "in + n,\n             n * sizeof(T),  // as many\n             "))

    def test_a_call_between_two_known_ones_is_the_new_one(self):
        ids, before = self.lint(STEP)
        now, after = self.lint(
            self.edited("  cudaMemcpy(out + n", "  cudaMemcpy(out + 1, in + 1, n, cudaMemcpyDeviceToHost);\n  cudaMemcpy(out + n")
        )
        self.assertEqual([now[line] for line in (5, 7, 8)], [ids[line] for line in (5, 6, 7)])
        gate = subprocess.run([CAPGATE, "gate", after, "--baseline", before], capture_output=True, text=True, check=False)
        self.assertEqual(gate.returncode, 1)
        self.assertIn("src/step.cu:6", gate.stdout)
        self.assertNotIn("src/step.cu:7", gate.stdout)

    def test_edited_arguments_are_known_by_the_rest(self):
        _, before = self.lint(STEP)
        _, after = self.lint(self.edited("cudaMemcpy(out + n, in + n", "cudaMemcpy(out + n, in + 2 * n"))
        gate = subprocess.run([CAPGATE, "gate", after, "--baseline", before, "--allow-eager"], capture_output=True, text=True, check=False)
        self.assertNotEqual(gate.returncode, 1, gate.stdout)
        self.assertNotIn("no longer", gate.stdout)


if __name__ == "__main__":
    unittest.main()
