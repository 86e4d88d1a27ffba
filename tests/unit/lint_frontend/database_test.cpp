#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "static_checks/commands/compile_database.h"
#include "static_checks/commands/include_scan.h"
#include "static_checks/commands/response_files.h"
#include "static_checks/driver/plan.h"
#include "workspace.h"

namespace capgate::lint {
namespace {

using test::Workspace;
using Words = std::vector<std::string>;

bool has_pair(const Words& words, const std::string& first, const std::string& second) {
  for (size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == first && words[i + 1] == second) return true;
  return false;
}
bool has(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

TEST(ResponseFiles, ExpandInEverySpellingAndWithinEachOther) {
  Workspace w;
  w.write("a.rsp", "-DA \"-I/with space\"\n--options-file b.rsp");
  w.write("b.rsp", "-DB");
  w.write("c.rsp", "-DC @sub/d.rsp");
  w.write("sub/d.rsp", "-DD='x y'");
  const auto words = expand_response_files({"--options-file", "a.rsp", "-optf=b.rsp,c.rsp", "@b.rsp",
                                            "--options-file=b.rsp", "-optf", "b.rsp", "-DE"},
                                           w.folder());
  ASSERT_TRUE(words.ok()) << words.error();
  EXPECT_EQ(*words,
            (Words{"-DA", "-I/with space", "-DB", "-DB", "-DC", "-DD=x y", "-DB", "-DB", "-DB", "-DE"}));
}

TEST(ResponseFiles, ALoopAndAMissingFileAreSentences) {
  Workspace w;
  w.write("loop.rsp", "@loop.rsp");
  const auto loop = expand_response_files({"@loop.rsp"}, w.folder());
  ASSERT_FALSE(loop.ok());
  EXPECT_NE(loop.error().find("includes itself"), std::string::npos);
  const auto missing = expand_response_files({"--options-file", "no.rsp"}, w.folder());
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().find("no.rsp"), std::string::npos);
}

class MalformedDatabase : public testing::TestWithParam<std::pair<const char*, const char*>> {};
TEST_P(MalformedDatabase, IsOneSentenceThatNamesTheFile) {
  Workspace w;
  w.write("compile_commands.json", GetParam().first);
  const auto entries = read_compile_database(w.folder());
  ASSERT_FALSE(entries.ok());
  EXPECT_NE(entries.error().find("compile_commands.json"), std::string::npos) << entries.error();
  EXPECT_NE(entries.error().find(GetParam().second), std::string::npos) << entries.error();
  EXPECT_EQ(entries.error().find('\n'), std::string::npos);
  // And of the whole run.
  LintSettings settings = w.settings();
  EXPECT_FALSE(run_lint(settings).ok());
}
INSTANTIATE_TEST_SUITE_P(
    Kinds, MalformedDatabase,
    testing::Values(std::pair{"", "not valid JSON"}, std::pair{"[{\"directory\": \"/\"", "not valid JSON"},
                    std::pair{"{}", "not a list"}, std::pair{"[3]", "not an object"},
                    std::pair{"[{\"directory\":\"/\",\"command\":\"c\"}]", "no \"file\""},
                    std::pair{"[{\"file\":\"a.cu\",\"command\":\"c\"}]", "no \"directory\""},
                    std::pair{"[{\"directory\":\"/\",\"file\":\"a.cu\"}]", "neither"},
                    std::pair{"[{\"directory\":\"/\",\"file\":\"a.cu\",\"arguments\":[1]}]",
                              "something else"},
                    std::pair{"[{\"directory\":\"/\",\"file\":\"a.cu\",\"command\":\"  \"}]", "neither"},
                    std::pair{"\xff\xfe", "not valid JSON"}));

TEST(Database, DeepNestingIsRefusedBeforeItIsParsed) {
  Workspace w;
  w.write("compile_commands.json", std::string(1'000'000, '['));
  const auto entries = read_compile_database(w.folder());
  ASSERT_FALSE(entries.ok());
  EXPECT_NE(entries.error().find("64 levels"), std::string::npos);
}

TEST(Database, AbsentOneIsASentence) {
  const auto entries = read_compile_database("/nowhere/at/all");
  ASSERT_FALSE(entries.ok());
  EXPECT_NE(entries.error().find("No such file"), std::string::npos);
}

TEST(UnitCommand, WhatCMakeWritesForNvccWithMakefiles) {
  Workspace w;
  w.write("a.cu", "");
  w.write("CMakeFiles/a.dir/includes_CUDA.rsp", "-I\"" + w.path("inc dir") + "\" -isystem=/opt/x/include");
  w.database(
      {{"a.cu",
        "/usr/local/cuda/bin/nvcc -forward-unknown-to-host-compiler -DBAR=\"x y\" --options-file "
        "CMakeFiles/a.dir/includes_CUDA.rsp --generate-code=arch=compute_90a,code=[compute_90a,sm_90a] "
        "-Xcompiler=-fPIC --expt-relaxed-constexpr --extended-lambda -lineinfo -Xptxas=-v --threads 4 "
        "-Xcudafe "
        "--diag_suppress=20012 -maxrregcount=64 --compiler-options -fno-strict-aliasing -x cu -rdc=true "
        "-std=c++20 "
        "-MD -MT x.o -MF x.d -o x.o"}});
  const auto entries = read_compile_database(w.folder());
  ASSERT_TRUE(entries.ok()) << entries.error();
  ASSERT_EQ(entries->size(), 1U);
  const auto command = unit_command(entries->front(), {});
  ASSERT_TRUE(command.ok()) << command.error();
  EXPECT_TRUE(command->cuda);
  EXPECT_EQ(command->file, w.path("a.cu"));
  EXPECT_TRUE(has_pair(command->arguments, "-x", "cuda"));
  EXPECT_TRUE(has_pair(command->arguments, "-I", w.path("inc dir")));
  EXPECT_TRUE(has_pair(command->arguments, "-isystem", "/opt/x/include"));
  EXPECT_TRUE(has(command->arguments, "-DBAR=x y"));
  EXPECT_TRUE(has(command->arguments, "-std=c++20"));
  EXPECT_TRUE(has(command->arguments, "--cuda-gpu-arch=sm_90a"));
  EXPECT_TRUE(has(command->arguments, "--cuda-host-only"));
  const std::vector<std::string> leaks{"4",    "x.o",         "x.d", "x.cu", "--threads", "-maxrregcount=64",
                                       "a.cu", w.path("a.cu")};
  for (const std::string& leaked : leaks) EXPECT_FALSE(has(command->arguments, leaked)) << leaked;
}

TEST(UnitCommand, LaunchersAndLanguages) {
  Workspace w;
  for (const char* file : {"a.cu", "b.cpp", "c.c", "d.cpp"}) w.write(file, "");
  w.database({{"a.cu", "/usr/bin/env CCACHE_DIR=/x ccache /usr/local/cuda/bin/nvcc -DQ"},
              {"b.cpp", "sccache g++ -DQ"},
              {"c.c", "cc -DQ"},
              {"d.cpp", "/usr/local/cuda/bin/nvcc -x cu -DQ"}});
  const auto entries = read_compile_database(w.folder());
  ASSERT_TRUE(entries.ok());
  const char* languages[] = {"cuda", "c++", "c", "cuda"};
  for (size_t i = 0; i < 4; ++i) {
    const auto command = unit_command((*entries)[i], {});
    ASSERT_TRUE(command.ok()) << command.error();
    EXPECT_TRUE(has_pair(command->arguments, "-x", languages[i])) << i;
    EXPECT_TRUE(has(command->arguments, "-DQ")) << i;
    EXPECT_EQ(command->cuda, std::string(languages[i]) == "cuda") << i;
  }
}

TEST(UnitCommand, AMissingFolderOrToolkitIsSaid) {
  CompileEntry entry{"/nowhere/build", "/nowhere/a.cu", {"nvcc", "-c", "a.cu"}};
  const auto command = unit_command(entry, {});
  ASSERT_FALSE(command.ok());
  EXPECT_NE(command.error().find("/nowhere/build"), std::string::npos);
  entry.directory = "/";
  const auto no_toolkit = unit_command(entry, {"/nowhere/cuda", ""});
  ASSERT_FALSE(no_toolkit.ok());
  EXPECT_NE(no_toolkit.error().find("/nowhere/cuda"), std::string::npos);
}

TEST(CudaToolkit, BothLayouts) {
  Workspace w;
  w.write("cuda12/include/cuda_runtime.h", "");
  w.write("cuda12/include/cuda.h", "#define CUDA_VERSION 12040\n");
  w.write("cuda12/include/texture_fetch_functions.h", "");
  w.write("cuda12/bin/nvcc", "");
  w.write("cuda13/include/cuda_runtime.h", "");
  w.write("cuda13/include/cuda.h", "#define CUDA_VERSION 13000\n");
  w.write("cuda13/include/cccl/cub/cub.cuh", "");
  const auto twelve = find_cuda_toolkit("", w.path("cuda12/bin/nvcc"));
  ASSERT_TRUE(twelve.ok());
  EXPECT_EQ(twelve->root, w.path("cuda12"));
  EXPECT_EQ(twelve->version, 12040);
  EXPECT_TRUE(twelve->has_texture_fetch);
  EXPECT_TRUE(twelve->cccl.empty());
  const auto thirteen = find_cuda_toolkit(w.path("cuda13"), "");
  ASSERT_TRUE(thirteen.ok());
  EXPECT_FALSE(thirteen->has_texture_fetch);
  EXPECT_EQ(thirteen->cccl, w.path("cuda13/include/cccl"));
}

TEST(Plan, NothingIsInventedForAFileThatTheDatabaseLacks) {
  Workspace w;
  w.write("a.cpp", "");
  w.write("b.cpp", "");
  w.database({{"a.cpp", "g++"}});
  LintSettings settings = w.settings();
  settings.files = {w.path("b.cpp")};
  const auto plan = make_plan(settings);
  ASSERT_TRUE(plan.ok()) << plan.error();
  EXPECT_TRUE(plan->units.empty());
  ASSERT_EQ(plan->unreachable.size(), 1U);
  EXPECT_NE(plan->unreachable[0].text.find("not in"), std::string::npos);
  const LintRun run = test::lint(settings);
  EXPECT_EQ(run.report.verdict, reports::Verdict::inconclusive);
  EXPECT_TRUE(test::has_reason(run.report, {"b.cpp"})) << test::all_reasons(run.report);
}

TEST(Plan, AHeaderIsReachedThroughTheUnitsThatIncludeIt) {
  Workspace w;
  w.write("inc/deep.h",
          "void banned();\n[[clang::annotate(\"capgate::region\")]] inline void step() { banned(); }\n");
  w.write("inc/outer.h", "#include \"deep.h\"\n");
  w.write("inc/alone.h", "");
  w.write("a.cpp",
          "#include <outer.h>\n[[clang::annotate(\"capgate::region\")]] void other() { banned(); }\n");
  w.write("b.cpp", "int x;\n");
  w.database({{"a.cpp", "g++ -Iinc"}, {"b.cpp", "g++ -Iinc"}});
  LintSettings settings = w.settings();
  settings.files = {w.path("inc/deep.h")};
  const auto plan = make_plan(settings);
  ASSERT_TRUE(plan.ok()) << plan.error();
  ASSERT_EQ(plan->units.size(), 1U);
  EXPECT_EQ(plan->units[0].file, w.path("a.cpp"));
  const LintRun run = test::lint(settings);
  ASSERT_EQ(run.report.violations.size(), 1U);  // not the one in a.cpp, which nobody asked for
  EXPECT_EQ(run.report.violations[0].location.file, "inc/deep.h");
  settings.files = {w.path("inc/alone.h")};
  const LintRun alone = test::lint(settings);
  EXPECT_EQ(alone.report.verdict, reports::Verdict::inconclusive);
  EXPECT_TRUE(test::has_reason(alone.report, {"alone.h", "includes it"})) << test::all_reasons(alone.report);
}

TEST(Plan, TwoConfigurationsOfOneFileAreTwoUnitsAndEqualOnesAreOne) {
  Workspace w;
  w.write("a.cpp", "");
  w.database({{"a.cpp", "g++ -DX"}, {"a.cpp", "g++ -DY"}, {"a.cpp", "g++ -DX -O3"}});
  const auto plan = make_plan(w.settings());
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->units.size(), 2U);
}

TEST(Plan, WrongUsageIsASentence) {
  Workspace w;
  LintSettings settings;
  settings.files = {w.path("no.cu")};
  EXPECT_FALSE(make_plan(settings).ok());
  w.write("a.cpp", "");
  settings.files = {w.path("a.cpp")};
  settings.arguments.emplace();
  settings.build = w.folder();
  EXPECT_FALSE(make_plan(settings).ok());
  settings.build.clear();
  settings.files = {w.folder()};
  const auto folder = make_plan(settings);
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().find(w.folder() + ": is a folder: options behind -- compile files that are named"),
            0U)
      << folder.error();
  settings.files.clear();
  EXPECT_FALSE(make_plan(settings).ok());
}

TEST(Plan, AnEmptyDatabaseIsNoPass) {
  Workspace w;
  w.database({});
  const LintRun run = test::lint(w.settings());
  EXPECT_EQ(run.report.verdict, reports::Verdict::inconclusive);
  EXPECT_FALSE(run.report.reasons.empty());
}

TEST(Plan, FilesWithoutADatabase) {
  Workspace w;
  w.write("my inc/x.h", "void banned();\n");
  w.write("a file.cpp",
          "#include \"x.h\"\n#if Q != 7\n#error\n#endif\n"
          "[[clang::annotate(\"capgate::region\")]] void step() { banned(); }\n");
  LintSettings settings = w.settings();
  settings.build.clear();
  settings.files = {w.path("a file.cpp")};
  settings.arguments = Words{"-I" + w.path("my inc"), "-DQ=7"};
  const LintRun run = test::lint(settings);
  EXPECT_EQ(run.report.verdict, reports::Verdict::fail) << test::all_reasons(run.report);
  ASSERT_EQ(run.report.violations.size(), 1U);
  EXPECT_EQ(run.report.violations[0].location.file, "a file.cpp");
  EXPECT_EQ(run.report.violations[0].location.line, 5);
}

}  // namespace
}  // namespace capgate::lint
