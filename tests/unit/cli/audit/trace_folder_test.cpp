#include "cli/audit/trace_folder.h"

#include <gtest/gtest.h>

#include <cstring>

#include "cli/audit/preload_library.h"
#include "detector/trace/format.h"
#include "tests/support/temporary_folder.h"

namespace capgate::cli {
namespace {

using test::TemporaryFolder;

namespace fs = std::filesystem;

std::string raw_trace() {
  trace::FileHeader header{};
  std::memcpy(header.magic, trace::kMagic, sizeof header.magic);
  header.pid = 42;
  return {reinterpret_cast<const char*>(&header), sizeof header};
}

TEST(TraceFolder, OfItsOwnIsGoneAfterwards) {
  fs::path path;
  {
    auto folder = TraceFolder::temporary();
    ASSERT_TRUE(folder) << folder.error();
    path = folder->path();
    EXPECT_TRUE(fs::is_directory(path));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(TraceFolder, IsNotTakenFromAnAuditThatWritesThere) {
  TemporaryFolder root;
  const std::string path = (root.path() / "t").string();
  {
    const auto first = TraceFolder::kept(path);
    ASSERT_TRUE(first) << first.error();
    root.write("t/live.raw", raw_trace());
    const auto second = TraceFolder::kept(path);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error(), "--trace " + path + ": another audit is writing there");
    EXPECT_TRUE(fs::exists(root.path() / "t/live.raw"));
  }
  EXPECT_TRUE(TraceFolder::kept(path));
}

TEST(TraceFolder, OfTheUsersStaysWithoutTheTracesOfAnEarlierRun) {
  TemporaryFolder root;
  root.write("t/old.raw", raw_trace());
  root.write("t/trace.cgtrace", "sealed");
  root.write("t/notes.txt", "mine");
  {
    auto folder = TraceFolder::kept((root.path() / "t").string());
    ASSERT_TRUE(folder) << folder.error();
  }
  EXPECT_FALSE(fs::exists(root.path() / "t/old.raw"));
  EXPECT_FALSE(fs::exists(root.path() / "t/trace.cgtrace"));
  EXPECT_TRUE(fs::exists(root.path() / "t/notes.txt"));
}

TEST(TraceFolder, ThatCannotBeIsOneSentence) {
  TemporaryFolder root;
  root.write("file", "");
  const auto folder = TraceFolder::kept((root.path() / "file/below").string());
  ASSERT_FALSE(folder);
  EXPECT_NE(folder.error().find("--trace"), std::string::npos);
}

TEST(TraceFolder, TellsProcessesByTheHeadersOfTheirTraces) {
  TemporaryFolder root;
  root.write("a", raw_trace());
  root.write("b", "CGTRACE");
  root.write("c", "");
  EXPECT_EQ(traced_processes(root.path().string()), std::set<pid_t>{42});
}

TEST(PreloadLibrary, IsLinkedWhereItsPathCannotBePreloaded) {
  TemporaryFolder root;
  const auto library = root.write("a b:c/libcapgate_preload.so", "library");
  const auto path = preloadable_path(library.string(), root.path().string());
  ASSERT_TRUE(path) << path.error();
  EXPECT_EQ(path->find_first_of(" :"), std::string::npos);
  EXPECT_EQ(fs::canonical(*path), fs::canonical(library));
}

TEST(PreloadLibrary, IsRefusedWhereNoPathCanBePreloaded) {
  const auto path = preloadable_path("/a b/libcapgate_preload.so", "/c d");
  ASSERT_FALSE(path);
  EXPECT_NE(path.error().find("--trace"), std::string::npos);
}

TEST(PreloadLibrary, IsTakenAsItIsWhereNothingHinders) {
  EXPECT_EQ(*preloadable_path("/opt/lib/libcapgate_preload.so", "/c d"), "/opt/lib/libcapgate_preload.so");
}

}  // namespace
}  // namespace capgate::cli
