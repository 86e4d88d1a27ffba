// CAPGATE_DEBUG: what the library does, one line per event, without harm to the program.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>

#include "tests/unit/preload/audited.h"

namespace capgate::test {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Without the process and thread in front; a line that has none fails.
std::vector<std::string> events(const std::string& text) {
  static const std::regex kHead(R"(capgate\[(\d+):(\d+)\]: (.*))");
  std::vector<std::string> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch parts;
    if (std::regex_match(line, parts, kHead))
      out.push_back(parts[3]);
    else
      ADD_FAILURE() << line;
  }
  return out;
}

// Where the event is, at or after `from`; one that is missing fails.
size_t find(const std::vector<std::string>& events, const std::string& pattern, size_t from = 0) {
  const std::regex wanted(pattern);
  for (size_t i = from; i < events.size(); ++i)
    if (std::regex_match(events[i], wanted)) return i;
  ADD_FAILURE() << "no " << pattern << " after event " << from;
  return events.size();
}

TEST(Debug, NothingIsWrittenUnlessItIsAskedFor) {
  const std::string file = fresh_folder() + "/debug";
  for (const char* value : {"", "0"}) {
    const Audited run =
        run_audited("clean", {.env = {{"CAPGATE_DEBUG", value}, {"CAPGATE_DEBUG_FILE", file}}});
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_EQ(run.err, "");
    EXPECT_FALSE(std::filesystem::exists(file));
  }
}

TEST(Debug, ARunInTheOrderOfItsEvents) {
  const std::string file = fresh_folder() + "/debug";
  const Audited run = run_audited("clean", {.env = {{"CAPGATE_DEBUG", "1"}, {"CAPGATE_DEBUG_FILE", file}}});
  ASSERT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
  const auto lines = events(text_of(file));
  size_t at = find(lines, "the CUDA driver initialises; traces go to /.*/traces");
  at = find(lines, R"(trace /.*/traces/\d+-\d+\.cgraw, room for 1024 MiB)", at);
  at = find(lines, "cupti\\.path: /.*/libcupti\\.so\\.13", at);
  at = find(lines, "cupti\\.state: attached", at);
  at = find(lines, R"([1-9]\d+ ids switched on, 0 refused by CUPTI)", at);
  at = find(lines, R"(capture \d+ begins)", at);
  at = find(lines, R"([1-9]\d* frequent ids switched on, 0 refused by CUPTI)", at);
  at = find(lines, R"(capture \d+ ends, result 0)", at);
  at = find(lines, "the process ends", at);
  EXPECT_EQ(at + 1, lines.size());
}

TEST(Debug, WhatIsRecordedStaysTheSame) {
  const std::string file = fresh_folder() + "/debug";
  const Audited plain = run_audited("broken");
  const Audited told = run_audited("broken", {.env = {{"CAPGATE_DEBUG", "1"}, {"CAPGATE_DEBUG_FILE", file}}});
  EXPECT_EQ(told.err, plain.err);
  const auto kinds = [](const Audited& run) {
    std::vector<trace::RecordType> out;
    for (const auto& event : run.only().process.order) out.push_back(event.type);
    return out;
  };
  EXPECT_EQ(kinds(told), kinds(plain));
  find(events(text_of(file)), R"(capture \d+ invalidated by cudaStreamSynchronize, result 900)");
}

TEST(Debug, WithoutAFileTheLinesGoToStderr) {
  const Audited run = run_audited("clean", {.env = {{"CAPGATE_DEBUG", "1"}}});
  EXPECT_EQ(run.exit_code, 0);
  find(events(run.err), "cupti\\.state: attached");
}

TEST(Debug, NamesWhatWasGivenUp) {
  const auto of = [](const std::string& scenario, std::map<std::string, std::string> env) {
    const std::string file = fresh_folder() + "/debug";
    env["CAPGATE_DEBUG"] = "1";
    env["CAPGATE_DEBUG_FILE"] = file;
    run_audited(scenario, {.env = env});
    return events(text_of(file));
  };
  find(of("clean", {{"FAKE_CUPTI", "held"}}), "cupti\\.state: held-by:Rival Tool");
  find(of("clean", {{"CAPGATE_TRACE_DIR", ""}}), ".*CAPGATE_TRACE_DIR is not set: nothing is recorded");
  find(of("clean", {{"CAPGATE_UNTIL", "replays=2"}}), "detaching: CAPGATE_UNTIL is reached");
  find(of("forked", {}), "forked: this child records nothing until it starts CUDA itself");
  find(of("fills_disk", {{"CAPGATE_TRACE_LIMIT_MB", "8"}}), R"(counted from here on: thinned:room)");
  find(of("variants", {}), "cudaStreamSynchronize_v99000 is newer than this library: watched by its name");
}

TEST(Debug, AFileThatTakesNothingHarmsNobody) {
  const std::string folder = fresh_folder();
  ASSERT_EQ(mkfifo((folder + "/pipe").c_str(), 0600), 0);
  for (const std::string& file : {folder + "/missing/debug", folder, folder + "/pipe"}) {
    const Audited run = run_audited("clean", {.env = {{"CAPGATE_DEBUG", "1"}, {"CAPGATE_DEBUG_FILE", file}}});
    EXPECT_EQ(run.exit_code, 0) << file << run.err;
    EXPECT_EQ(calls(run.only(), "cudaGraphLaunch").size(), 3U) << file;
  }
}

// One KiB of stderr or of the file is soon full: the signal of the limit must not end the program.
TEST(Debug, ALimitOnFileSizesHarmsNobody) {
  const std::string file = fresh_folder() + "/debug";
  for (const char* where : {file.c_str(), ""}) {
    const Audited run = run_audited("clean", {.env = {{"CAPGATE_DEBUG", "1"}, {"CAPGATE_DEBUG_FILE", where}},
                                              .shell_prefix = "ulimit -f 1;"});
    EXPECT_EQ(run.exit_code, 0) << where;
  }
}

}  // namespace
}  // namespace capgate::test
