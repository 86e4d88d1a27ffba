// A second run is free, and never tells an old truth.
#include "static_checks/cache/cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "workspace.h"

namespace capgate::lint {
namespace {

using test::Workspace;
namespace fs = std::filesystem;

const std::string kStep = "void banned();\n[[clang::annotate(\"capgate::region\")]] void step() { CALL; }\n";

class CacheRun : public testing::Test {
 protected:
  void SetUp() override {
    w.write("src/h.h", "#define CALL banned()\n");
    w.write("src/a.cpp", "#include \"h.h\"\n#include <vector>\n" + kStep);
    w.database({{"src/a.cpp", "g++ -Ifirst -Isecond"}});
    settings = w.settings();
    settings.cache_dir = w.path("cache");
  }
  // Runs; says whether the one unit came from the cache, and leaves the number of findings.
  bool cached() {
    const LintRun run = test::lint(settings);
    findings = run.report.violations.size();
    ids.clear();
    for (const auto& violation : run.report.violations) ids += violation.id;
    return run.figures.cached == 1;
  }
  // As if nothing had been touched for a minute.
  void age() {
    const timespec times[2] = {{time(nullptr) - 60, 0}, {time(nullptr) - 60, 0}};
    for (const auto& entry : fs::recursive_directory_iterator(w.path("src")))
      utimensat(AT_FDCWD, entry.path().c_str(), times, 0);
  }
  Workspace w;
  LintSettings settings;
  size_t findings = 0;
  std::string ids;
};

TEST_F(CacheRun, ASecondRunIsCachedAndTellsTheSame) {
  EXPECT_FALSE(cached());
  EXPECT_EQ(findings, 1U);
  const std::string first = ids;
  EXPECT_TRUE(cached());
  EXPECT_EQ(ids, first);
}

TEST_F(CacheRun, AHeaderEditCountsEvenWithinTheSameInstantAndSize) {
  EXPECT_FALSE(cached());
  // Same size, and the old times put back: only the contents and the change time differ.
  struct stat before{};
  ASSERT_EQ(stat(w.path("src/h.h").c_str(), &before), 0);
  w.write("src/h.h", "#define CALL (void) 0\n");
  const timespec times[2] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(utimensat(AT_FDCWD, w.path("src/h.h").c_str(), times, 0), 0);
  EXPECT_FALSE(cached());
  EXPECT_EQ(findings, 0U);
}

TEST_F(CacheRun, ATouchWithoutAnEditIsNoChange) {
  EXPECT_FALSE(cached());
  utimensat(AT_FDCWD, w.path("src/h.h").c_str(), nullptr, 0);
  EXPECT_TRUE(cached());
}

TEST_F(CacheRun, TheMainFileCounts) {
  EXPECT_FALSE(cached());
  w.write("src/a.cpp", "#include \"h.h\"\nint x;\n");
  EXPECT_FALSE(cached());
  EXPECT_EQ(findings, 0U);
}

TEST_F(CacheRun, ArgumentsAndOptionsCount) {
  EXPECT_FALSE(cached());
  w.database({{"src/a.cpp", "g++ -Ifirst -Isecond -DNEW"}});
  EXPECT_FALSE(cached());
  w.database({{"src/a.cpp", "g++ -Ifirst -Isecond -O3"}});  // of no use to the parser
  EXPECT_TRUE(cached());
  settings.options.whole_file = true;
  EXPECT_FALSE(cached());
}

TEST_F(CacheRun, TheProgramCounts) {
  EXPECT_FALSE(cached());
  const std::string other = w.path("other-worker");
  fs::copy_file(LINT_TEST_WORKER, other);
  settings.worker = other;
  EXPECT_TRUE(cached());  // the same program elsewhere
  std::ofstream script(w.path("script.sh"));
  script << "#!/bin/sh\nexec '" << LINT_TEST_WORKER << "'\n";
  script.close();
  chmod(w.path("script.sh").c_str(), 0755);
  settings.worker = w.path("script.sh");
  EXPECT_FALSE(cached());
}

TEST_F(CacheRun, AHeaderThatAppearsEarlierInTheSearchCounts) {
  fs::create_directories(w.path("second/sub"));
  w.write("second/sub/late.h", "#define CALL banned()\n");
  w.write("src/a.cpp", "#include <sub/late.h>\n" + kStep);
  EXPECT_FALSE(cached());
  EXPECT_EQ(findings, 1U);
  EXPECT_TRUE(cached());
  w.write("first/sub/other.h", "");  // a new neighbour that nobody reads
  EXPECT_TRUE(cached());
  w.write("first/sub/late.h", "#define CALL (void)0\n");
  EXPECT_FALSE(cached());
  EXPECT_EQ(findings, 0U);
}

TEST_F(CacheRun, AQuotedHeaderThatAppearsBesideTheSourceCounts) {
  w.write("second/late.h", "#define CALL banned()\n");
  w.write("src/a.cpp", "#include \"late.h\"\n" + kStep);
  age();
  EXPECT_FALSE(cached());
  EXPECT_TRUE(cached());
  w.write("src/late.h", "#define CALL (void)0\n");
  EXPECT_FALSE(cached());
  EXPECT_EQ(findings, 0U);
}

TEST_F(CacheRun, WhatWasNotParsedAsAWholeIsTriedAgain) {
  w.write("src/a.cpp", "#include \"made_later.h\"\n#include \"h.h\"\n" + kStep);
  EXPECT_FALSE(cached());
  EXPECT_FALSE(cached());
  w.write("src/made_later.h", "");
  EXPECT_FALSE(cached());
  EXPECT_TRUE(cached());
}

TEST_F(CacheRun, DamagedEntriesAreNotBelieved) {
  EXPECT_FALSE(cached());
  size_t entries = 0;
  for (const auto& entry : fs::recursive_directory_iterator(settings.cache_dir)) {
    if (!entry.is_regular_file() || entry.path().filename() == "pruned") continue;
    ++entries;
    fs::resize_file(entry.path(), fs::file_size(entry.path()) / 2);
  }
  EXPECT_EQ(entries, 1U);
  EXPECT_FALSE(cached());
  for (const auto& entry : fs::recursive_directory_iterator(settings.cache_dir))
    if (entry.is_regular_file()) std::ofstream(entry.path()) << "something else";
  EXPECT_FALSE(cached());
  EXPECT_EQ(findings, 1U);
}

TEST_F(CacheRun, AFolderThatCannotBeWrittenIsNoError) {
  settings.cache_dir = "/proc/no/such/cache";
  EXPECT_FALSE(cached());
  EXPECT_EQ(findings, 1U);
}

TEST_F(CacheRun, OldEntriesGo) {
  EXPECT_FALSE(cached());
  const timespec long_ago[2] = {{1'000'000, 0}, {1'000'000, 0}};
  for (const auto& entry : fs::recursive_directory_iterator(settings.cache_dir))
    utimensat(AT_FDCWD, entry.path().c_str(), long_ago, 0);
  Cache(settings.cache_dir, "").prune();
  EXPECT_FALSE(cached());
}

TEST(Archive, CutOrGarbledBytesAreNoValue) {
  Reply reply;
  reply.result.findings.emplace_back().details["k"] = "v";
  reply.result.findings[0].flow.push_back({{"f.cu", 3, 4}, "m"});
  reply.inputs.files.push_back({"p", true, {}, "digest"});
  const std::string bytes = to_bytes(reply);
  const auto back = from_bytes<Reply>(bytes);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(to_bytes(*back), bytes);
  EXPECT_EQ(back->result.findings[0].flow[0].place.line, 3);
  for (size_t i = 0; i < bytes.size(); ++i)
    EXPECT_FALSE(from_bytes<Reply>(std::string_view(bytes).substr(0, i)));
  EXPECT_FALSE(from_bytes<Reply>(bytes + "x"));
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string garbled = bytes;
    garbled[i] = static_cast<char>(0xff);
    (void)from_bytes<Reply>(garbled);  // must neither crash nor take memory without end
  }
}

}  // namespace
}  // namespace capgate::lint
