#include "cli/audit/environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace capgate::cli {
namespace {

std::optional<std::string> get(const std::vector<std::string>& environment, const std::string& name) {
  std::optional<std::string> found;
  for (const std::string& entry : environment) {
    if (!entry.starts_with(name + "=")) continue;
    EXPECT_FALSE(found) << name << " stands there twice";
    found = entry.substr(name.size() + 1);
  }
  return found;
}

DetectorSettings settings() {
  DetectorSettings given;
  given.library = "/opt/capgate/lib/libcapgate_preload.so";
  given.trace_folder = "/tmp/t";
  return given;
}

TEST(Environment, PutsTheDetectorFirstAndKeepsWhatStoodThere) {
  const auto environment =
      audited_environment({"HOME=/root", "LD_PRELOAD=libjemalloc.so  /x/y.so:z.so"}, settings());
  EXPECT_EQ(get(environment, "LD_PRELOAD"), settings().library + ":libjemalloc.so:/x/y.so:z.so");
  EXPECT_EQ(get(environment, "HOME"), "/root");
  EXPECT_EQ(get(environment, "CAPGATE_PRELOAD"), settings().library);
  EXPECT_EQ(get(environment, "CAPGATE_TRACE_DIR"), "/tmp/t");
}

TEST(Environment, GoesOnToTheInjectionLibrariesThatStoodThere) {
  const auto environment =
      audited_environment({"CUDA_INJECTION64_PATH=/nsys.so", "NVTX_INJECTION64_PATH=/nvtx.so"}, settings());
  EXPECT_EQ(get(environment, "CUDA_INJECTION64_PATH"), settings().library);
  EXPECT_EQ(get(environment, "CAPGATE_NEXT_INJECTION"), "/nsys.so");
  EXPECT_EQ(get(environment, "NVTX_INJECTION64_PATH"), settings().library);
  EXPECT_EQ(get(environment, "CAPGATE_NEXT_NVTX_INJECTION"), "/nvtx.so");
}

TEST(Environment, SetsNoNextLibraryWhereNoneStood) {
  const auto environment = audited_environment({"CUDA_INJECTION64_PATH="}, settings());
  EXPECT_EQ(get(environment, "CAPGATE_NEXT_INJECTION"), std::nullopt);
  EXPECT_EQ(get(environment, "CAPGATE_NEXT_NVTX_INJECTION"), std::nullopt);
}

TEST(Environment, DoesNotChainToItselfWhenAuditsNest) {
  const auto outer = audited_environment({"CUDA_INJECTION64_PATH=/nsys.so"}, settings());
  const auto inner = audited_environment(outer, settings());
  EXPECT_EQ(get(inner, "LD_PRELOAD"), settings().library);
  EXPECT_EQ(get(inner, "CUDA_INJECTION64_PATH"), settings().library);
  EXPECT_EQ(get(inner, "CAPGATE_NEXT_INJECTION"), "/nsys.so");
}

TEST(Environment, ReplacesTheDetectorOfAnotherCapgate) {
  DetectorSettings older = settings();
  older.library = "/usr/lib/capgate-0.1/libcapgate_preload.so";
  const auto outer = audited_environment({"LD_PRELOAD=/x/y.so", "NVTX_INJECTION64_PATH=/nvtx.so"}, older);
  const auto inner = audited_environment(outer, settings());
  EXPECT_EQ(get(inner, "LD_PRELOAD"), settings().library + ":/x/y.so");
  EXPECT_EQ(get(inner, "CUDA_INJECTION64_PATH"), settings().library);
  EXPECT_EQ(get(inner, "CAPGATE_NEXT_INJECTION"), std::nullopt);
  EXPECT_EQ(get(inner, "CAPGATE_NEXT_NVTX_INJECTION"), "/nvtx.so");
}

TEST(Environment, TellsTheDetectorItsSettingsAndDropsThoseOfAnotherRun) {
  DetectorSettings given = settings();
  given.region_globs = {"step*", "decode [0-9]: x"};
  given.until = "captures=3";
  given.cupti_hints = {"/a/libcupti.so.13", "/b/libcupti.so.12"};
  given.deaths = "/tmp/t/deaths";
  const auto environment =
      audited_environment({"CAPGATE_REGIONS=old", "CAPGATE_UNTIL=old", "CAPGATE_DEATHS=/old"}, given);
  EXPECT_EQ(get(environment, "CAPGATE_DEATHS"), "/tmp/t/deaths");
  EXPECT_EQ(get(audited_environment(environment, settings()), "CAPGATE_DEATHS"), std::nullopt);
  EXPECT_EQ(get(environment, "CAPGATE_REGIONS"), "step*\ndecode [0-9]: x");
  EXPECT_EQ(get(environment, "CAPGATE_UNTIL"), "captures=3");
  EXPECT_EQ(get(environment, "CAPGATE_CUPTI_HINTS"), "/a/libcupti.so.13:/b/libcupti.so.12");
  EXPECT_EQ(get(audited_environment(environment, settings()), "CAPGATE_REGIONS"), std::nullopt);
}

}  // namespace
}  // namespace capgate::cli
