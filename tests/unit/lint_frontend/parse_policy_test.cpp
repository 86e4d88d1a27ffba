// Parse trouble is judged by where it is, and never reads as clean.
#include <gtest/gtest.h>

#include "reports/verdict/gaps.h"
#include "workspace.h"

namespace capgate::lint {
namespace {

using reports::Verdict;
using test::Workspace;

const std::string kRegion = "[[clang::annotate(\"capgate::region\")]] ";

reports::Report lint_text(const std::string& name, const std::string& text,
                          const std::string& command = "g++") {
  Workspace w;
  w.write(name, text);
  w.database({{name, command}});
  return test::lint(w.settings()).report;
}

reports::Report lint_cuda(const std::string& text) {
  return lint_text("a.cu", text, "/usr/local/cuda/bin/nvcc -arch=sm_90");
}

TEST(ParsePolicy, CleanIsAPass) {
  const auto report = lint_text("a.cpp", kRegion + "void step() {}\n");
  EXPECT_EQ(report.verdict, Verdict::pass) << test::all_reasons(report);
  EXPECT_EQ(report.coverage.files_parsed, 1U);
  EXPECT_EQ(report.coverage.regions.size(), 1U);
}

TEST(ParsePolicy, AnErrorInAHostFunctionCountsOnlyWhereARegionReaches) {
  const auto outside =
      lint_text("a.cpp", kRegion + "void step() {}\nint other() { return no_such_thing; }\n");
  EXPECT_EQ(outside.verdict, Verdict::pass) << test::all_reasons(outside);
  const auto gaps = reports::particular_gaps(outside);
  ASSERT_EQ(gaps.size(), 1U);  // said all the same
  EXPECT_NE(gaps[0].find("other"), std::string::npos);
  const auto inside = lint_text("a.cpp", kRegion + "int step() { return no_such_thing; }\n");
  EXPECT_EQ(inside.verdict, Verdict::inconclusive);
  EXPECT_TRUE(test::has_reason(inside, {"a.cpp:1", "step", "not analysed", "no_such_thing"}))
      << test::all_reasons(inside);
  // Code that was not analysed must not be taken out of the judgement by the remedy.
  EXPECT_EQ(test::all_reasons(inside).find("eager break"), std::string::npos);
  EXPECT_NE(test::all_reasons(inside).find("unproven:step"), std::string::npos) << test::all_reasons(inside);
}

TEST(ParsePolicy, AMissingHeaderIsNamedWithWhatToDo) {
  const auto report = lint_text("a.cpp", "#include \"made/later.h\"\n" + kRegion + "void step() {}\n");
  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  EXPECT_EQ(report.coverage.files_failed, 1U);
  EXPECT_TRUE(test::has_reason(report, {"a.cpp", "made/later.h", "not found"})) << test::all_reasons(report);
}

TEST(ParsePolicy, WhatFollowsFromAMissingHeaderIsNotSaidAgain) {
  const auto report =
      lint_text("a.cpp", "#include \"none.h\"\nnone_t a;\nnone_t b;\n" + kRegion + "void step() {}\n");
  ASSERT_EQ(report.reasons.size(), 1U) << test::all_reasons(report);
  EXPECT_TRUE(test::has_reason(report, {"none.h"}));
}

TEST(ParsePolicy, ManyErrorsOutsideFunctionsAreCounted) {
  std::string text;
  for (int i = 0; i < 10; ++i) text += "none" + std::to_string(i) + "_t v" + std::to_string(i) + ";\n";
  const auto report = lint_text("a.cpp", text);
  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  ASSERT_EQ(report.reasons.size(), 3U) << test::all_reasons(report);
  EXPECT_TRUE(test::has_reason(report, {"7 more"})) << test::all_reasons(report);
}

TEST(ParsePolicy, AnErrorOutsideEveryFunctionMakesTheFileIncomplete) {
  const auto report = lint_text("a.cpp", "unknown_t value;\n" + kRegion + "void step() {}\n");
  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  EXPECT_TRUE(test::has_reason(report, {"a.cpp:1", "unknown_t"})) << test::all_reasons(report);
}

TEST(ParsePolicy, AProvenErrorBeatsEveryReason) {
  const auto report =
      lint_text("a.cpp", "#include \"no.h\"\nvoid banned();\n" + kRegion + "void step() { banned(); }\n");
  EXPECT_EQ(report.verdict, Verdict::fail);
  EXPECT_FALSE(report.reasons.empty());
}

TEST(ParsePolicy, AMissingSourceIsNamed) {
  Workspace w;
  w.database({{"gone.cpp", "g++"}});
  const auto report = test::lint(w.settings()).report;
  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  EXPECT_TRUE(test::has_reason(report, {"gone.cpp", "No such file"})) << test::all_reasons(report);
}

TEST(ParsePolicy, NestingBeyondTheLimitIsNoPass) {
  const auto report = lint_text("a.cpp", "int f() { return " + std::string(5000, '(') + "1" +
                                             std::string(5000, ')') + "; }\n" + kRegion + "void step() {}\n");
  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  EXPECT_TRUE(test::has_reason(report, {"a.cpp", "nesting"})) << test::all_reasons(report);
}

TEST(ParsePolicy, NestingOfAThousandLevelsIsParsed) {
  std::string text = "int f(int x) {\n";
  for (int i = 0; i < 900; ++i) text += "if (x) {";
  text += std::string(900, '}') + " return x; }\n" + kRegion + "void step() {}\n";
  EXPECT_EQ(lint_text("a.cpp", text).verdict, Verdict::pass);
}

TEST(ParsePolicy, DeviceCodeIsNotJudged) {
  const auto report = lint_cuda(
      "__global__ void kernel(int* p) { *p = no_such_intrinsic(3); }\n"
      "__device__ int helper() { return other_intrinsic(); }\n"
      "template <class T> __device__ T generic(T x) { return third_intrinsic(3); }\n"
      "struct S { __device__ int method() { return fourth_intrinsic(); } };\n"
      "__device__ strange_t device_table[4];\n" +
      kRegion + "void step(int* p) { kernel<<<1, 1>>>(p); }\n");
  EXPECT_EQ(report.verdict, Verdict::pass) << test::all_reasons(report);
  EXPECT_TRUE(reports::particular_gaps(report).empty());
}

TEST(ParsePolicy, HostDeviceCodeIsHostCode) {
  const auto report = lint_cuda(kRegion + "__host__ __device__ int step() { return no_such_thing; }\n");
  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  EXPECT_TRUE(test::has_reason(report, {"step", "no_such_thing"})) << test::all_reasons(report);
}

TEST(ParsePolicy, ADeviceLambdaInAHostFunctionIsDeviceCode) {
  const auto report =
      lint_cuda("template <class F> void run(F f) {}\n" + kRegion +
                "void step() { run([=] __device__ (int i) { return no_such_intrinsic(i); }); }\n");
  EXPECT_EQ(report.verdict, Verdict::pass) << test::all_reasons(report);
}

TEST(ParsePolicy, AnErrorInsideAHeadersTemplateBelongsToWhoAskedForIt) {
  Workspace w;
  w.write("sys/t.h", "template <class T> int pick(T t) { return t.no_such_member; }\n");
  w.write("a.cpp", "#include <t.h>\n" + kRegion + "int step() { return pick(3); }\n");
  w.database({{"a.cpp", "g++ -isystem sys"}});
  const auto report = test::lint(w.settings()).report;
  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  EXPECT_TRUE(test::has_reason(report, {"a.cpp:2", "step"})) << test::all_reasons(report);
}

TEST(ParsePolicy, TheShimGivesWhatNvccGives) {
  const auto report = lint_cuda(
      "#include <cuda_runtime.h>\n#include <cub/cub.cuh>\n#include <cooperative_groups.h>\n#include <omp.h>\n"
      "int host_uses(int a, unsigned b, float f) {\n"
      "  int m = min(a, 3) + max(b, 4u) + (int)max(f, 1.0f) + (int)min(1.0, 2.0f) + (int)min(a, b);\n"
      "  size_t s = min((size_t)4, 5ul); assert(s); return m + (int)clock() + isnan(f) + "
      "__CUDACC_VER_MAJOR__; }\n"
      "template <class T> __global__ void k(T* p) { __stcs(p, __ldcg(p + 1)); }\n"
      "[[clang::annotate(\"capgate::region\")]] void launch(float* p) { k<<<1, 1>>>(p); }\n");
  EXPECT_EQ(report.verdict, Verdict::pass) << test::all_reasons(report);
  const auto gaps = reports::particular_gaps(report);
  EXPECT_TRUE(gaps.empty()) << (gaps.empty() ? "" : gaps[0]);
}

// They take a type, which may hold commas and may depend on a template's parameter.
TEST(ParsePolicy, NvccsTraitsOfLambdasAreFalse) {
  for (const std::string trait : {"device_lambda_closure_type", "host_device_lambda_closure_type",
                                  "device_lambda_with_preserved_return_type"}) {
    const std::string name = "__nv_is_extended_" + trait;
    const std::string traits =
        "#include <type_traits>\ntemplate <class A, class B> struct Pair {};\n"
        "template <class T, class = void> struct OnHost : std::true_type {};\n"
        "template <class T> struct OnHost<T, std::enable_if_t<" +
        name +
        "(T)>> : std::false_type {};\n"
        "static_assert(!" +
        name + "(int) && !" + name + "(Pair<int, float>) && OnHost<int>::value);\n";
    const std::string step = "void banned();\n" + kRegion +
                             "void step() {\n  auto f = [] {};\n  if constexpr (!" + name +
                             "(decltype(f))) banned();\n}\n";
    const auto report = lint_cuda(traits + step);
    EXPECT_EQ(report.verdict, Verdict::fail) << name << ": " << test::all_reasons(report);
    EXPECT_EQ(report.summary.errors, 1U) << name;
  }
}

// The arm for nvcc is the one that nvcc builds; system headers keep the one for clang.
TEST(ParsePolicy, NvccsMacrosAreThereForItsCommandsAlone) {
  const std::string uses =
      "#include <arms.h>\n#ifdef __NVCC__\n#define CHECK(x) (x)\n#endif\n" + kRegion +
      "int step() { return CHECK(__NVCC__ + __CUDACC_VER_MAJOR__ + __CUDA_API_VER_MAJOR__ + in_arms()); }\n"
      "#if !defined(__NVCC_DIAG_PRAGMA_SUPPORT__)\n#error no pragmas\n#endif\n";
  const std::string arms =
      "#pragma once\n#ifdef __NVCC__\ninline int in_arms() { return __a_builtin_of_nvcc(); }\n#else\n"
      "inline int in_arms() { return 1; }\n#endif\n";
  for (const char* name : {"a.cu", "a.cpp"}) {
    Workspace w;
    w.write("system/arms.h", arms);
    w.write(name, uses);
    w.database({{name, "/usr/local/cuda/bin/nvcc -isystem system"}});
    const auto report = test::lint(w.settings()).report;
    EXPECT_EQ(report.verdict, Verdict::pass) << name << ": " << test::all_reasons(report);
  }
  for (const char* command : {"clang++ -x cuda", "g++"}) {
    const auto report = lint_text(
        "a.cpp", "#ifdef __NVCC__\n#error it is not nvcc\n#endif\n" + kRegion + "void step() {}\n", command);
    EXPECT_EQ(report.verdict, Verdict::pass) << command << ": " << test::all_reasons(report);
  }
}

TEST(ParsePolicy, BracesInALaunchAreNvccsBusiness) {
  Workspace w;
  w.write("launch.cuh",
          "template <class T> __global__ void k(T*) {}\n"
          "#define LAUNCH(p) k<<<{1, 2, 3}, {4}>>>(p)\n"
          "inline void other(int* p, unsigned n) { k<<<{n, 1}, 32>>>(p); }\n");
  w.write("a.cu",
          "#include \"launch.cuh\"\n" + kRegion +
              "void step(int* p, unsigned n) { LAUNCH(p); k<<<n, {n, 1, 1}, 0, 0>>>(p); other(p, n); }\n");
  w.database({{"a.cu", "/usr/local/cuda/bin/nvcc -arch=sm_90"}});
  LintSettings settings = w.settings();
  settings.cache_dir = w.path("cache");
  const auto first = test::lint(settings);
  EXPECT_EQ(first.report.verdict, Verdict::pass) << test::all_reasons(first.report);
  EXPECT_TRUE(reports::particular_gaps(first.report).empty());
  // What was read is what lies on disk: the text that was parsed in its place is nobody's change.
  EXPECT_EQ(test::lint(settings).figures.cached, 1U);
  const auto wrong =
      lint_cuda("__global__ void k() {}\n" + kRegion + "void step() { k<<<1, {2}>>>(); int x = {; }\n");
  EXPECT_EQ(wrong.verdict, Verdict::inconclusive);
}

TEST(ParsePolicy, ArchitecturesThatClangDoesNotKnow) {
  for (const char* arch :
       {"-arch=sm_120", "-gencode arch=compute_100a,code=sm_100a", "-arch=native", "-arch=all-major"}) {
    const auto report =
        lint_text("a.cu", "__global__ void k() {}\n" + kRegion + "void f() { k<<<1, 1>>>(); }\n",
                  std::string("/usr/local/cuda/bin/nvcc ") + arch);
    EXPECT_EQ(report.verdict, Verdict::pass) << arch << '\n' << test::all_reasons(report);
  }
}

TEST(ParsePolicy, AProcessorThatClangDoesNotKnow) {
  const auto report = lint_text("a.cpp", kRegion + "void step() {}\n", "g++ -march=no-such-processor");
  EXPECT_EQ(report.verdict, Verdict::pass) << test::all_reasons(report);
}

TEST(ParsePolicy, SuppressionCommentsApplyAndUnusedOnesAreNotes) {
  const auto report =
      lint_text("a.cpp", "void banned();\n" + kRegion +
                             "void step() {\n  // capgate-allow(host-sync): measured, once a minute\n"
                             "  banned();\n}\n// capgate-allow(host-branch): nothing here\nint x;\n");
  EXPECT_EQ(report.verdict, Verdict::pass) << test::all_reasons(report);
  EXPECT_EQ(report.summary.suppressed, 1U);
  EXPECT_EQ(report.summary.notes, 1U);
}

}  // namespace
}  // namespace capgate::lint
