#include "cli/audit/deaths/death_watch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace capgate::cli {
namespace {

using test::TemporaryFolder;

constexpr int kPatienceMs = 30'000;

// What goes to stderr while this lives, line by line.
class StandardError {
 public:
  StandardError() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) std::abort();
    before_ = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    read_ = ends[0];
  }
  ~StandardError() {
    restore();
    close(read_);
  }
  StandardError(const StandardError&) = delete;
  StandardError& operator=(const StandardError&) = delete;

  // The next line without its end; empty when none came in time, or none can come any more.
  std::string next_line() {
    for (;;) {
      if (const size_t end = text_.find('\n'); end != std::string::npos) {
        std::string line = text_.substr(0, end);
        text_.erase(0, end + 1);
        return line;
      }
      pollfd ready{read_, POLLIN, 0};
      std::array<char, 4096> block;
      if (poll(&ready, 1, kPatienceMs) <= 0) return "";
      const ssize_t got = read(read_, block.data(), block.size());
      if (got <= 0) return "";
      text_.append(block.data(), static_cast<size_t>(got));
    }
  }
  std::vector<std::string> rest() {
    restore();
    std::vector<std::string> lines;
    for (std::string line; !(line = next_line()).empty();) lines.push_back(std::move(line));
    return lines;
  }

 private:
  void restore() {
    if (before_ < 0) return;
    dup2(before_, STDERR_FILENO);
    close(before_);
    before_ = -1;
  }

  int before_ = -1, read_ = -1;
  std::string text_;
};

// As the detector does it: one write a notice, to the end of the file.
void notify(const std::string& file, const std::string& call) {
  const std::string notice = call + "\t900\t0\t\n";
  const int fd = open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  EXPECT_EQ(write(fd, notice.data(), notice.size()), static_cast<ssize_t>(notice.size()));
  close(fd);
}

std::string told(const std::string& call) {
  return "capgate: capture died: " + call + " returned cudaErrorStreamCaptureUnsupported (900)";
}

TEST(DeathWatch, TellsWhileTheProgramRunsOn) {
  const TemporaryFolder folder;
  StandardError error;
  const DeathWatch watch(folder.path(), {});
  for (const char* call : {"cudaMalloc", "cudaStreamSynchronize", "cudaFree"}) {
    notify(watch.file(), call);
    EXPECT_EQ(error.next_line(), told(call));
  }
}

TEST(DeathWatch, TellsEveryNoticeOfThreadsWhoseCapturesDieAtOnce) {
  constexpr int kThreads = 4, kNotices = 25;
  const TemporaryFolder folder;
  StandardError error;
  std::vector<std::string> expected;
  {
    const DeathWatch watch(folder.path(), {});
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      const auto call = [thread](int i) { return "call" + std::to_string(thread) + "_" + std::to_string(i); };
      for (int i = 0; i < kNotices; ++i) expected.push_back(told(call(i)));
      threads.emplace_back([&watch, call] {
        for (int i = 0; i < kNotices; ++i) notify(watch.file(), call(i));
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  std::vector<std::string> lines = error.rest();
  std::ranges::sort(lines);
  std::ranges::sort(expected);
  EXPECT_EQ(lines, expected);
}

TEST(DeathWatch, LeavesNoFile) {
  const TemporaryFolder folder;
  std::string file;
  {
    const DeathWatch watch(folder.path(), {});
    file = watch.file();
    EXPECT_TRUE(std::filesystem::exists(file));
  }
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(DeathWatch, WatchesNothingWhereItsFileCannotBe) {
  const DeathWatch watch("/nowhere", {});
  EXPECT_EQ(watch.file(), "");
}

}  // namespace
}  // namespace capgate::cli
