"""What docs/lint.md and `capgate lint --help` promise, where the labelled sources of tests/corpus_static do not show it.

A limit of the analysis is a promise as well: where one is lifted, its sentence goes."""

import json
import re
import subprocess
import unittest

from promise import SOURCE, Promises, needs_lint, promise

PAGE = "docs/lint.md"
HELP = "capgate lint --help"
CUDA = "#include <cuda_runtime.h>\n"
WAIT = "cudaStreamSynchronize(s);"
BEGIN, END = "cudaGraph_t g; cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);", "cudaStreamEndCapture(s, &g);"
GUARD = """struct Guard {
  cudaStream_t s; cudaGraph_t g;
  explicit Guard(cudaStream_t t) : s(t) { cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal); }
  ~Guard() { cudaStreamEndCapture(s, &g); }
};
"""


@needs_lint
class LintPage(Promises):
    def lint(self, source, *words, behind=(), name="a.cu"):
        done = self.run_capgate("lint", *words, self.write(name, source), "--", *behind)
        self.assertIn(done.returncode, (0, 1, 2), done.stderr)
        return done.returncode, done.stdout

    def rules(self, source, *words, **options):
        """{(line, rule)} of all that is found."""
        found = re.findall(
            r"^[^ ]+?:(\d+):\d+: (?:error|warning|note): .* \[([\w-]+)\]$", self.lint(source, *words, **options)[1], re.MULTILINE
        )
        return {(int(line), rule) for line, rule in found}

    @promise(PAGE, "`--sources FILE` adds a table:")
    def test_the_example_of_a_table_of_sources(self):
        (table,) = re.findall(r"^    (\{\"functions\".*\})$", (SOURCE / PAGE).read_text(encoding="utf-8"), re.MULTILINE)
        self.write("table.json", table)
        step = f"""{CUDA}namespace my {{ void download(void* dst, const void* src, size_t bytes); }}
void step(int* count, float* x, cudaStream_t s) {{
  {BEGIN}
  int n = 0;
  my::download(&n, count, sizeof n);
  if (n) cudaMemsetAsync(x, 0, 4, s);
  {END}
}}
"""
        self.assertEqual(self.rules(step), set())
        self.assertEqual(self.rules(step, "--sources", "table.json"), {(6, "sync-copy"), (7, "host-branch")})

    @promise(PAGE, "The first literal in the name is compared", "GLOB is of the default domain, and `engine@decode*` takes",
             "`nvtxDomainRangePushEx` is not seen.")  # fmt: skip
    @promise(HELP, "NVTX ranges with a matching name are regions; its first literal counts")
    def test_names_of_ranges(self):
        source = f"""{CUDA}#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvtx3.hpp>
#include <string>
struct engine {{ static constexpr char const* name{{"engine"}}; }};
std::string made(int i);
void a(cudaStream_t s) {{ nvtx3::scoped_range r{{"decode 1"}}; {WAIT} }}
void b(cudaStream_t s, int i) {{ nvtxRangePushA(("decode " + std::to_string(i)).c_str()); {WAIT} nvtxRangePop(); }}
void c(cudaStream_t s) {{ nvtx3::scoped_range_in<engine> r{{"decode"}}; {WAIT} }}
void d(cudaStream_t s, int i) {{ nvtxRangePushA(made(i).c_str()); {WAIT} nvtxRangePop(); }}
void e(cudaStream_t s) {{ nvtx3::scoped_range r{{"prefill"}}; {WAIT} }}
void f(cudaStream_t s, nvtxDomainHandle_t d) {{
  nvtxEventAttributes_t a{{}}; a.message.ascii = "decode"; nvtxDomainRangePushEx(d, &a); {WAIT} nvtxDomainRangePop(d);
}}
"""
        self.assertEqual(self.rules(source, "--region", "decode*"), {(7, "host-sync"), (8, "host-sync")})
        self.assertEqual(self.rules(source, "--region", "engine@decode*"), {(9, "host-sync")})
        self.assertEqual(self.rules(source, "--region", "*@decode"), {(9, "host-sync")})
        self.assertEqual(self.rules(source, "--region", "decode 1"), {(7, "host-sync")})

    @promise(
        PAGE,
        "Only code in a region is judged, unless `--whole-file` also asks for device values that reach decisions elsewhere (warnings).",
    )
    @promise(HELP, "Report device values that reach host decisions outside captured regions too, as warnings")
    def test_whole_file(self):
        copy = "int n; cudaMemcpyAsync(&n, d, 4, cudaMemcpyDeviceToHost, s);"
        source = f"{CUDA}void f(int* d, cudaStream_t s) {{\n  {copy} {WAIT}\n  if (n) f(d, s);\n}}\n"
        source += f"void step(cudaStream_t s) {{ {BEGIN} {END} }}\n"
        self.assertEqual(self.rules(source), set())
        code, printed = self.lint(source, "--whole-file", "--fail-on", "warning")
        self.assertIn("a.cu:4:7: warning: the branch depends on a device value", printed)
        self.assertNotIn("host-sync", printed)
        self.assertEqual((code, self.lint(source, "--whole-file")[0]), (1, 0))

    @promise(
        PAGE, "two functions of one name in two programs both count as the callee.", "One source with two sets of options is two units."
    )
    def test_programs_of_one_database_are_looked_at_together(self):
        self.write("step.cu", f"{CUDA}void log(cudaStream_t);\nvoid step(cudaStream_t s) {{ {BEGIN} log(s); {END} }}\n")
        self.write("one.cu", f"{CUDA}void log(cudaStream_t) {{}}\n")
        self.write("two.cu", f"{CUDA}void log(cudaStream_t s) {{\n#ifdef LOUD\n  {WAIT}\n#endif\n}}\n")
        units = [("step.cu", ""), ("one.cu", ""), ("two.cu", ""), ("two.cu", "-DLOUD")]
        commands = [{"directory": str(self.here), "file": name, "command": f"nvcc {option} -c {name}"} for name, option in units]
        self.write("build/compile_commands.json", json.dumps(commands))
        done = self.run_capgate("lint")
        self.assertIn("two.cu:4:3: error: cudaStreamSynchronize waits for the device [host-sync]", done.stdout)
        self.assertIn("3 files parsed" if "3 files parsed" in done.stdout else "4 files parsed", done.stdout)

    @promise(HELP, "Folder with compile_commands.json, or the file; default: the folder of the first file or one above, then ./build.")
    def test_where_a_database_is_found(self):
        self.write("src/deep/a.cu", f"{CUDA}void step(cudaStream_t s) {{ {BEGIN} OPTION {END} }}\n")
        entry = [{"directory": str(self.here), "file": "src/deep/a.cu", "command": "nvcc -DOPTION= -c src/deep/a.cu"}]
        file = ["src/deep/a.cu"]
        for place, words in (("src/deep", file), ("src", file), ("build", []), ("build", file), ("x", ["-p", "x"]),
                             ("x", ["-p", "x/compile_commands.json"])):  # fmt: skip
            with self.subTest(place=place, words=words):
                database = self.write(f"{place}/compile_commands.json", json.dumps(entry))
                self.assertIn("1 file parsed, 1 captured region", self.output("lint", *words))
                database.unlink()
        self.assertEqual(self.run_capgate("lint", *file).returncode, 2)

    @promise(HELP, "CUDA toolkit; default: that of the command's nvcc, CUDA_PATH, CUDA_HOME, nvcc in PATH, /usr/local/cuda")
    def test_which_toolkit_is_taken(self):
        for at, name in enumerate(("given", "path", "home")):
            self.write(f"{name}/include/cuda_runtime.h", f"#define TOOLKIT {at}\n")
        source = f'{CUDA}#if TOOLKIT != WANTED\n#error another toolkit\n#endif\n[[clang::annotate("capgate::region")]] void step() {{}}\n'
        self.write("a.cpp", source)
        variables = {"CUDA_PATH": str(self.here / "path"), "CUDA_HOME": str(self.here / "home")}
        for wanted, words, env in ((0, ["--cuda-path", "given"], variables), (1, [], variables), (2, [], variables | {"CUDA_PATH": ""})):
            with self.subTest(wanted=wanted):
                self.output("lint", *words, "a.cpp", "--", f"-DWANTED={wanted}", env=env)
        self.output("lint", "--cuda-path", "nowhere", "a.cpp", "--", "-DWANTED=1", code=2, env=variables)

    @promise(PAGE, "what nvcc alone understands is left out (`-v` lists it)")
    @promise(HELP, "Print which compiler options are ignored, and where time goes", "clang 19's own headers (lib/clang/19)")
    def test_what_is_left_out_and_clangs_headers(self):
        step = self.write("a.cu", f"{CUDA}void step(cudaStream_t s) {{ {BEGIN} {END} }}\n")
        entry = {"directory": str(self.here), "file": "a.cu", "command": "nvcc --maxrregcount=32 -DA -c a.cu"}
        self.write("build/compile_commands.json", json.dumps([entry]))
        done = self.run_capgate("lint", "-v")
        self.assertRegex(done.stdout + done.stderr, r"a\.cu: left out .*--maxrregcount=32")
        self.assertNotIn("--maxrregcount", self.output("lint"))
        self.assertRegex(done.stdout + done.stderr, r"parsing [\d.]+ s, analysis [\d.]+ s")
        printed = self.output("lint", "--resource-dir", "nowhere", step, "--", code=2)
        self.assertIn("clang 19's own headers are not in nowhere", printed)

    @promise(PAGE, "Functions of another project, outside the system and the toolkit, without a body in sight: named under `not_checked`.")
    @promise(PAGE, "what is found there is placed at your call.")
    @promise(HELP, "Judge code below it; default: each file's git repository")
    def test_another_projects_code(self):
        self.write("theirs/wait.h", f"{CUDA}inline void wait(cudaStream_t s) {{ {WAIT} }}\nvoid away(cudaStream_t s);\n")
        source = f'#include "wait.h"\nvoid step(cudaStream_t s) {{ {BEGIN}\nwait(s);\n{END} }}\n'
        for project in ("mine", "theirs"):
            (self.here / project).mkdir(exist_ok=True)
            subprocess.run(["git", "init", "-q", self.here / project], check=True)
        self.assertEqual(self.rules(source, name="mine/a.cu", behind=["-Itheirs"]), {(3, "host-sync")})
        self.assertEqual(self.rules(source, "--root", ".", name="mine/a.cu", behind=["-Itheirs"]), {(2, "host-sync")})
        self.assertEqual(self.rules(source.replace("wait(s)", "away(s)"), name="mine/a.cu", behind=["-Itheirs"]), set())
        report = json.loads(self.run_capgate("lint", "--out", "-", "mine/a.cu", "--", "-Itheirs").stdout)
        self.assertTrue(any("away" in text for text in report["coverage"]["not_checked"]), report["coverage"]["not_checked"])

    @promise(PAGE, "what cannot be analysed and runs only where a call of CUDA has failed: the capture is lost there.")
    def test_what_only_a_failed_call_leads_to(self):
        handler = f"{CUDA}void (*handler)();\nvoid step(float* x, cudaStream_t s) {{ {BEGIN} "
        for source, code in (
            (handler + f"if (cudaMemsetAsync(x, 0, 4, s) != cudaSuccess) handler(); {END} }}\n", 0),
            (handler + f"if (cudaMemsetAsync(x, 0, 4, s) == cudaSuccess) handler(); {END} }}\n", 2),
        ):
            done = self.run_capgate("lint", "--out", "-", self.write("a.cu", source), "--")
            self.assertEqual(done.returncode, code, done.stderr)
            if code == 0:
                named = json.loads(done.stdout)["coverage"]["not_checked"]
                self.assertTrue(any("only where a call of CUDA has failed" in text for text in named), named)

    @promise(PAGE, "a host decision by the key of a capture that is made again for each key: `if (graph_rows != rows)")
    def test_a_capture_that_is_made_again_for_each_key(self):
        head = f"{CUDA}int graph_rows = -1;\nvoid step(const int* d, float* x, cudaStream_t s) {{ int rows = 0;\n"
        head += "cudaMemcpyAsync(&rows, d, 4, cudaMemcpyDeviceToHost, s); cudaStreamSynchronize(s);\n"
        head += f"if (graph_rows != rows) {{ {BEGIN}\nif (rows > 4) cudaMemsetAsync(x, 0, 4, s);\n{END} "
        self.assertEqual(self.rules(head + "graph_rows = rows; } }\n"), set())
        self.assertEqual({rule for _, rule in self.rules(head + "graph_rows = 1; } }\n")}, {"host-branch"})

    def test_a_guard_in_a_template_that_nothing_instantiates(self):
        template = GUARD.replace("struct", "template <class T> struct")
        code, printed = self.lint(f"{CUDA}{template}template <class T> void step(T s) {{ Guard<T> g(s); {WAIT} }}\n")
        self.assertEqual(code, 2)
        self.assertIn("the template Guard begins a capture where it is made, and none of the sources makes one", printed)

    @promise(PAGE, "Values through files, sockets and other processes;")
    def test_values_that_leave_the_process_are_lost(self):
        copy = "int n = 0, m = 0; cudaMemcpyAsync(&n, d, 4, cudaMemcpyDeviceToHost, s);"
        head = f"{CUDA}#include <cstdio>\n#include <sys/socket.h>\n#include <unistd.h>\n"
        head += "void step(int* d, float* x, FILE* f, int to, int from, cudaStream_t s) {\n"
        ways = {
            "none": "m = n;",
            "a file": "fwrite(&n, 4, 1, f); rewind(f); fread(&m, 4, 1, f);",
            "a socket": "send(to, &n, 4, 0); recv(from, &m, 4, 0);",
            "another process": "write(to, &n, 4); read(from, &m, 4);",
        }
        for way, through in ways.items():
            with self.subTest(way=way):
                found = self.rules(f"{head}  {BEGIN} {copy}\n  {through}\n  if (m) cudaMemsetAsync(x, 0, 4, s);\n  {END}\n}}\n")
                self.assertIn((6, "pageable-copy"), found)
                self.assertEqual((8, "host-branch") in found, way == "none", found)

    @promise(
        PAGE,
        "the elements of a `std::tuple` are one value, and a lambda's copy of a variable is the variable",
        "array elements behind an unknown index are merged",
    )
    def test_values_that_are_not_told_apart(self):
        copy = "cudaMemcpyAsync(INTO, d, 4, cudaMemcpyDeviceToHost, s);"
        head = f"{CUDA}#include <tuple>\nvoid step(int* d, float* x, int i, cudaStream_t s) {{\n"
        for body in (
            f"std::tuple<int, int> t{{0, 0}}; {BEGIN} {copy.replace('INTO', '&std::get<0>(t)')}\n  if (std::get<1>(t)) return;",
            f"int n = 0; auto f = [n, x, s] {{\n  if (n) cudaMemsetAsync(x, 0, 4, s); }}; {BEGIN} {copy.replace('INTO', '&n')} f();",
            f"int n[4] = {{}}; {BEGIN} {copy.replace('INTO', '&n[i]')}\n  if (n[0]) cudaMemsetAsync(x, 0, 4, s);",
        ):
            with self.subTest(body=body):
                self.assertIn((5, "host-branch"), self.rules(f"{head}  {body} {END} }}\n"))


if __name__ == "__main__":
    unittest.main()
