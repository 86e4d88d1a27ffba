#!/usr/bin/env python3
"""One unit is one action of a build: a project with CapgateLint.cmake is linted by ninja, and again after changes.

CAPGATE: the program; CAPGATE_CMAKE: the folder of CapgateLint.cmake.
"""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

CAPGATE = os.environ["CAPGATE"]
MODULES = os.environ["CAPGATE_CMAKE"]

FILES = {
    "CMakeLists.txt": """cmake_minimum_required(VERSION 3.25)
project(sample LANGUAGES CXX)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
list(APPEND CMAKE_MODULE_PATH "%s")
include(CapgateLint)
add_library(step STATIC step.cpp capture.cpp layers/layer.cpp layers/layer.h)
capgate_lint(step)
"""
    % MODULES,
    "cuda.h": """#pragma once
typedef int cudaError_t;
typedef struct s* cudaStream_t;
enum cudaStreamCaptureMode { mode };
extern "C" cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode);
extern "C" cudaError_t cudaStreamEndCapture(cudaStream_t, void*);
extern "C" cudaError_t cudaDeviceSynchronize();
""",
    # The wrapper is in another source: the caller is looked at again when the summaries are linked.
    "capture.cpp": '#include "cuda.h"\nvoid begin(cudaStream_t s) { cudaStreamBeginCapture(s, mode); }\n'
    "void end(cudaStream_t s) { cudaStreamEndCapture(s, nullptr); }\n",
    "step.cpp": '#include "cuda.h"\n#include "layers/layer.h"\nvoid begin(cudaStream_t); void end(cudaStream_t);\n'
    "void step(cudaStream_t s) {\n  begin(s);\n  layer();\n  end(s);\n}\n",
    "layers/layer.h": "#pragma once\nvoid layer();\n",
    "layers/layer.cpp": '#include "layer.h"\n#include "../cuda.h"\nvoid layer() {}\n',
}


class BuildActions(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name).resolve()
        for name, text in FILES.items():
            (self.root / name).parent.mkdir(exist_ok=True)
            (self.root / name).write_text(text)
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(self.root / "cache")}
        done = self.run_in("cmake", "-G", "Ninja", "-S", ".", "-B", "build", f"-DCAPGATE={CAPGATE}")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def tearDown(self):
        self.folder.cleanup()

    def run_in(self, *words):
        return subprocess.run(words, cwd=self.root, capture_output=True, text=True, check=False, env=self.environment)

    def lint(self):
        """The exit code, what was summarised, and the report."""
        done = self.run_in("ninja", "-C", "build", "-v", "lint")
        summarised = sorted(name for name in ("step.cpp", "capture.cpp", "layer.cpp") if f"{name}.summary -p" in done.stdout)
        report = json.loads((self.root / "build/lint.json").read_text())
        return done.returncode, summarised, report

    def test_what_changed_is_summarised_and_all_is_linked(self):
        code, summarised, report = self.lint()
        self.assertEqual((code, summarised), (0, ["capture.cpp", "layer.cpp", "step.cpp"]))
        self.assertEqual([region["name"] for region in report["coverage"]["regions"]], ["capture at step.cpp:5"])
        self.assertEqual(self.lint()[1], [])

        layer = self.root / "layers/layer.cpp"
        layer.write_text('#include "layer.h"\n#include "../cuda.h"\nvoid layer() {\n  cudaDeviceSynchronize();\n}\n')
        code, summarised, report = self.lint()
        self.assertNotEqual(code, 0)
        self.assertEqual(summarised, ["layer.cpp"])
        (fault,) = report["violations"]
        self.assertEqual((fault["rule"], fault["severity"], fault["location"]["line"]), ("host-sync", "error", 4))
        self.assertEqual(fault["details"]["region"], "capture at step.cpp:5")

        (self.root / "layers/layer.h").write_text("#pragma once\nvoid layer();\nvoid other();\n")
        self.assertEqual(self.lint()[1], ["layer.cpp", "step.cpp"])

    def test_bad_input_is_one_sentence(self):
        self.lint()
        summary = self.root / "build/lint/step.cpp.summary"
        for words, told in (
            (("--link", "step.cpp"), "step.cpp is no summary of a source: capgate lint --summary-out writes one"),
            (("--link", "nowhere.summary"), "cannot read the summary nowhere.summary"),
            (("--link",), "--link is for summaries that are named: capgate lint --link FILES"),
            (("--link", "@nowhere"), "cannot read the list of summaries nowhere"),
            (("--summary-out", "x.summary", "-p", "build"), "--summary-out is for one source with one compile command; here are 3"),
            (("--summary-out", "x.summary", "-p", "build", "nowhere.cpp"), "nowhere.cpp: no such file or folder"),
        ):
            with self.subTest(words=words):
                done = self.run_in(CAPGATE, "lint", *words)
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertIn(told, done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertFalse((self.root / "x.summary").exists())
        source = (self.root / "step.cpp").read_text()
        for name in ("step.cpp", "step"):  # step.d is somebody's
            (self.root / "step.d").write_text("mine")
            done = self.run_in(CAPGATE, "lint", "--summary-out", name, "-p", "build", "step.cpp")
            self.assertEqual(done.returncode, 2)
            self.assertIn("is not from capgate lint --summary-out, and is not overwritten", done.stderr)
        self.assertEqual((self.root / "step.cpp").read_text(), source)
        self.assertEqual((self.root / "step.d").read_text(), "mine")
        summary.write_bytes(summary.read_bytes()[:-9])
        done = self.run_in(CAPGATE, "lint", "--link", str(summary))
        self.assertEqual(done.returncode, 2)
        self.assertIn("was written by another build of capgate: write it again", done.stderr)

    def test_options_of_the_analysis_are_the_same_in_all_units(self):
        self.lint()
        done = self.run_in(CAPGATE, "lint", "--summary-out", "other.summary", "--whole-file", "-p", "build", "step.cpp")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.run_in(CAPGATE, "lint", "--link", "other.summary", "build/lint/capture.cpp.summary")
        self.assertEqual(done.returncode, 2)
        self.assertIn("were written with different options of capgate lint", done.stderr)


if __name__ == "__main__":
    unittest.main()
