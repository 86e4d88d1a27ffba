// What `capgate lint --out` writes follows the published schema, whatever the verdict.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/files/read_text.h"
#include "static_checks/commands/files.h"
#include "tests/support/report_schema.h"
#include "workspace.h"

namespace capgate::lint {
namespace {

using Json = nlohmann::json;
using capgate::test::departures_from_schema;

const std::string kApi =
    "typedef int cudaError_t; typedef struct s* cudaStream_t;\n"
    "enum cudaMemcpyKind { a, b, cudaMemcpyDeviceToHost };\n"
    "extern \"C\" cudaError_t cudaMemcpy(void*, const void*, unsigned long, enum cudaMemcpyKind);\n"
    "extern \"C\" cudaError_t cudaLaunchHostFunc(cudaStream_t, void (*)(void*), void*);\n"
    "extern \"C\" cudaError_t cudaDeviceSynchronize();\n"
    "#define REGION [[clang::annotate(\"capgate::region\")]]\n";
const std::string kClean = "REGION void step(int n) { if (n > 0) ++n; }\n";
const std::string kFaulty =
    "static int seen(const int* d) {\n"
    "  int h;\n"
    "  cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);\n"
    "  return h;\n"
    "}\n"
    "REGION int step(const int* d, cudaStream_t s, void (*f)(void*)) {\n"
    "  cudaLaunchHostFunc(s, f, nullptr);\n"
    "  // capgate-allow(host-sync): measured\n"
    "  cudaDeviceSynchronize();\n"
    "  return seen(d) > 3 ? 1 : 2;\n"
    "}\n"
    "// capgate-allow(host-poll): of no use\n";

struct Kind {
  const char* name;
  std::string text;
  std::string options;
  const char* verdict;
  int exit_code;
};

class ReportSchema : public testing::TestWithParam<Kind> {};

TEST_P(ReportSchema, HoldsForWhatLintWrites) {
  const Kind& kind = GetParam();
  test::Workspace w;
  w.write("a.cpp", kind.text);
  w.database({{"a.cpp", "g++"}});
  const std::string line = "cd '" + w.folder() + "' && '" + std::string(CAPGATE_PROGRAM) +
                           "' lint --no-cache --out report.json " + kind.options + " > out.txt 2>&1";
  const int status = system(line.c_str());
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), kind.exit_code) << *read_file(w.path("out.txt"));
  const auto text = read_file(w.path("report.json"));
  ASSERT_TRUE(text) << text.error();
  const Json report = Json::parse(*text, nullptr, false);
  ASSERT_FALSE(report.is_discarded());
  EXPECT_EQ(departures_from_schema(report), "");
  EXPECT_EQ(report.at("verdict"), kind.verdict);
  if (std::string(kind.verdict) != "fail") return;
  // A value's way is told from the copy to the branch.
  bool by_value = false, suppressed = false;
  for (const Json& violation : report.at("violations")) {
    suppressed = suppressed || !violation.at("suppressed").is_null();
    if (violation.at("rule") != "host-branch") continue;
    by_value = true;
    const Json& flow = violation.at("flow");
    ASSERT_GE(flow.size(), 3U);
    EXPECT_EQ(flow.front().at("line"), 9);
    EXPECT_EQ(flow.back().at("line"), 16);
    for (const Json& step : flow) EXPECT_EQ(step.at("file"), "a.cpp");
  }
  EXPECT_TRUE(by_value);
  EXPECT_TRUE(suppressed);
}

INSTANTIATE_TEST_SUITE_P(
    Verdicts, ReportSchema,
    testing::Values(Kind{"pass", kApi + kClean, "", "pass", 0}, Kind{"fail", kApi + kFaulty, "", "fail", 1},
                    Kind{"whole", kApi + kFaulty, "--whole-file --region step", "fail", 1},
                    Kind{"missing_header", kApi + "#include \"none.h\"\n" + kClean, "", "inconclusive", 2},
                    Kind{"not_analysed", kApi + "REGION void step(void (*f)()) { f(); }\n", "",
                         "inconclusive", 2},
                    Kind{"no_region", "int x;\n", "", "inconclusive", 2}),
    [](const auto& kind) { return std::string(kind.param.name); });

}  // namespace
}  // namespace capgate::lint
