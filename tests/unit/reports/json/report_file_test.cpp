// Reports on disk: what is read as one, and what is never overwritten.
#include "reports/json/json.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/files/read_text.h"
#include "reports/files/report_file.h"
#include "tests/unit/reports/golden.h"
#include "tests/unit/reports/sample.h"

namespace capgate::reports {
namespace {

using testing::clean_run;

TEST(ReportFile, WritesWholeOrNotAtAll) {
  const std::string path = ::testing::TempDir() + "/report.json";
  ASSERT_TRUE(write_report(clean_run(), path).ok());
  const auto read = read_report(path);
  ASSERT_TRUE(read.ok()) << read.error();
  EXPECT_EQ(read->digest.size(), 64u);
  EXPECT_EQ(to_json(read->report), to_json(clean_run()));
  const auto failed = write_report(clean_run(), "/nonexistent/report.json");
  EXPECT_EQ(failed.error(), "/nonexistent/report.json: cannot be written: No such file or directory");
  EXPECT_EQ(read_report("/nonexistent.json").error(),
            "/nonexistent.json: cannot be read: No such file or directory");
  EXPECT_EQ(read_report("/tmp").error(), "/tmp: is a directory, not a file");
  EXPECT_TRUE(write_report(clean_run(), "/dev/null").ok());
}

TEST(ReportFile, OverwritesReportsAndNothingElse) {
  const std::string path = ::testing::TempDir() + "/there.json";
  const auto put = [&](std::string_view text) { std::ofstream(path, std::ios::binary) << text; };
  for (const std::string_view kept :
       {"int main() {}\n", "[]\n", "\x7f\x45LF", "{\"name\": \"package\"}\n", "{", "{}",
        "{\"schema\": \"https://json-schema.org\"}", "{\"schema\": 1}"}) {
    put(kept);
    EXPECT_EQ(write_report(clean_run(), path).error(),
              path + ": is not a capgate report; refusing to overwrite it");
    EXPECT_EQ(*read_text(path), kept);
  }
  for (const std::string_view replaced :
       {"", "\n", "{\"schema\": \"capgate-report/0\"}", "{\"schema\":\"capgate-report/1\"}",
        "{\"captures\": [], \"schema\": \"capgate-report/1\"}"}) {
    put(replaced);
    EXPECT_TRUE(write_report(clean_run(), path).ok()) << replaced;
    EXPECT_EQ(*read_text(path), to_json(clean_run()));
  }
}

TEST(ReportFile, ReadsFilesAndNothingThatHasNoEnd) {
  const std::string folder = ::testing::TempDir() + "/kinds";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string fifo = folder + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const auto& [path, why] :
       std::vector<std::pair<std::string, std::string>>{{fifo, "is a named pipe, not a file"},
                                                        {folder, "is a directory, not a file"},
                                                        {"/dev/zero", "is a device, not a file"},
                                                        {"/dev/full", "is a device, not a file"}}) {
    EXPECT_EQ(read_text(path).error(), path + ": " + why);
    EXPECT_EQ(read_settings_text(path).error(), path + ": " + why);
    EXPECT_EQ(read_report(path).error(), path + ": " + why);
    EXPECT_EQ(read_report_alone(path).error(), path + ": " + why);
  }
  EXPECT_EQ(*read_settings_text("/dev/null"), "");
  const std::string large = folder + "/large";
  std::ofstream(large).put(' ');
  std::filesystem::resize_file(large, (uintmax_t{16} << 20) + 1);
  EXPECT_EQ(read_settings_text(large).error(), large + ": is larger than 16 MiB, which is more than is read");
  EXPECT_TRUE(read_text(large));
  // What the shell makes of <(…).
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], "text", 4), 4);
  close(ends[1]);
  EXPECT_EQ(*read_text("/dev/fd/" + std::to_string(ends[0])), "text");
  close(ends[0]);
}

TEST(ReportFile, TellsWhenAnOutputIsAnInput) {
  const std::string folder = ::testing::TempDir() + "/spared";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string a = folder + "/a.json", b = folder + "/b.json", link = folder + "/link.json",
                    hard = folder + "/hard.json";
  for (const auto& path : {a, b}) ASSERT_TRUE(write_report(clean_run(), path));
  std::filesystem::create_symlink("a.json", link);
  std::filesystem::create_hard_link(a, hard);
  EXPECT_EQ(spares(a, {b, a}).error(), "--out " + a + ": is read here and would be lost; name another file");
  for (const auto& other : {link, hard, folder + "/./a.json"})
    EXPECT_EQ(spares(other, {b, a}).error(),
              "--out " + other + ": is " + a + ", which is read here and would be lost; name another file");
  EXPECT_TRUE(spares(folder + "/new.json", {a, b}));
  EXPECT_TRUE(spares(a, {"-", "", folder, "/dev/null", folder + "/gone.json"}));
  EXPECT_TRUE(spares("/dev/null", {"/dev/null"}));
}

}  // namespace
}  // namespace capgate::reports
