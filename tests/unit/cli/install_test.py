"""The install tree works by itself: the program finds its detector, an outside project finds the header and the gate."""

import os
import pathlib
import subprocess
import tempfile
import textwrap
import unittest

BUILD = pathlib.Path(os.environ["CAPGATE"]).parent.parent


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.prefix = cls.folder / "prefix"
        done = subprocess.run(["cmake", "--install", BUILD, "--prefix", cls.prefix, "--strip"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    def test_everything_is_where_it_belongs(self):
        for path in (
            "bin/capgate",
            "lib/libcapgate_preload.so",
            "lib/libcapgate_watch_host.so",
            "include/capgate/capgate.h",
            "include/capgate/verify.h",
            "include/capgate/verify_evidence.h",
            "include/capgate/verify_memory.h",
            "include/capgate/verify_numbers.h",
            "include/capgate/verify_result.h",
            "include/capgate/verify_trial.h",
            "share/capgate/python/capgate_marks.py",
            "share/capgate/python/capgate_evidence.py",
            "share/capgate/python/capgate_verify.py",
            "share/capgate/python/capgate_verify_arrays.py",
            "share/capgate/python/capgate_verify_result.py",
            "share/capgate/python/capgate_verify_trial.py",
            "share/capgate/docs/rules/host-sync.md",
            "share/capgate/ci/judge",
            "share/capgate/ci/github/action.yml",
        ):
            with self.subTest(path=path):
                self.assertTrue((self.prefix / path).is_file())

    def test_the_program_finds_its_detector(self):
        done = subprocess.run(
            [self.prefix / "bin/capgate", "audit", "--out", "report.json", "--", "printenv", "CAPGATE_PRELOAD"],
            cwd=self.folder, capture_output=True, text=True,
        )  # fmt: skip
        self.assertEqual(pathlib.Path(done.stdout.strip()), (self.prefix / "lib/libcapgate_preload.so").resolve())

    def test_an_outside_project_uses_the_header(self):
        project = self.folder / "project"
        project.mkdir()
        (project / "CMakeLists.txt").write_text(
            textwrap.dedent(
                """\
            cmake_minimum_required(VERSION 3.20)
            project(outside LANGUAGES C CXX)
            find_package(capgate 0.1 REQUIRED)
            add_executable(marked marked.cpp marked.c)
            target_link_libraries(marked PRIVATE capgate::marks)
            get_target_property(program capgate::capgate IMPORTED_LOCATION)
            if(NOT EXISTS "${program}" OR NOT EXISTS "${capgate_PYTHON_DIR}/capgate_marks.py")
              message(FATAL_ERROR "the package names files that are not there")
            endif()
        """
            )
        )
        (project / "marked.c").write_text(
            textwrap.dedent(
                """\
            #include <capgate/capgate.h>
            void mark(void) {
              capgate_region_begin("decode");
              capgate_region_end();
            }
        """
            )
        )
        (project / "marked.cpp").write_text(
            textwrap.dedent(
                """\
            #include <capgate/capgate.h>
            extern "C" void mark(void);
            int main() {
              const capgate::bucket bucket("bs=1");
              const capgate::region step("decode");
              mark();
              return capgate_audited();
            }
        """
            )
        )
        build = self.folder / "outside"
        for words in (
            ["cmake", "-S", project, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.prefix}"],
            ["cmake", "--build", build],
            [build / "marked"],
        ):
            done = subprocess.run(words, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_an_outside_engine_asks_the_gate(self):
        if not (BUILD / "reports/libcapgate_gate.a").exists():
            self.skipTest("capgate_gate is not built")
        project = self.folder / "engine"
        project.mkdir()
        (project / "CMakeLists.txt").write_text(
            textwrap.dedent(
                """\
            cmake_minimum_required(VERSION 3.25)
            project(engine LANGUAGES CXX)
            set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
            find_package(capgate 0.1 REQUIRED COMPONENTS gate)
            add_executable(engine engine.cpp)
            target_link_libraries(engine PRIVATE capgate::gate)
            target_link_options(engine PRIVATE -Wl,--build-id)
            capgate_source_digest(engine)
        """
            )
        )
        (project / "engine.cpp").write_text(
            textwrap.dedent(
                """\
            #include <cstdio>

            #include "reports/gate/digests.h"
            #include "reports/gate/gate.h"

            int main() {
              capgate::gate::Subject self;
              self.build_id = capgate::gate::self_build_id();
              self.source_digest = capgate::gate::self_source_digest();
              const auto answer = capgate::gate::check("gate.json", self);
              std::printf("%zu %zu %s\\n", self.build_id.size(), self.source_digest.size(), answer.sentence.c_str());
              return answer.open() ? 0 : 2;
            }
        """
            )
        )
        build = self.folder / "engine-build"
        sanitizer = []
        if os.environ.get("CAPGATE_SANITIZE"):  # what is linked in wants its run time
            sanitizer = [f"-DCMAKE_EXE_LINKER_FLAGS=-fsanitize={os.environ['CAPGATE_SANITIZE']}"]
        for words in (
            ["cmake", "-S", project, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.prefix}", *sanitizer],
            ["cmake", "--build", build],
        ):
            done = subprocess.run(words, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = subprocess.run([build / "engine"], cwd=self.folder, capture_output=True, text=True)
        self.assertRegex(done.stdout, "^40 64 the gate is closed: there is no report at gate.json; ")
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main()
