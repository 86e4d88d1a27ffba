// The sealed trace on disk: what was put in comes out, and damage is told from age and from other files.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/files/read_text.h"
#include "detector/seal/sealed_file.h"
#include "tests/unit/analysis/trace_builder.h"

namespace capgate::test {
namespace {

class SealedFile : public testing::Test {
 protected:
  SealedFile() {
    auto& p = trace.process();
    p.in_python("model.py", 7, "step");
    p.healthy_capture();
    p.replay();
    p.end();
    trace.run.exit_code = 3;
    trace.buckets = {"decode"};
    trace.suppressions = "host-sync:f  because\n";
    sealed = trace.sealed();
    sealed.unseen.push_back({7, "worker", "why"});
    sealed.reasons.push_back({"text", "remedy"});
    sealed.sources.push_back({"model.py", {{7, "x = 1"}}, {{6, "# capgate-allow(host-sync): y"}}});
    sealed.program = {{"commit", "8111a02d"}, {"torch", "2.11.0"}};
    sealed.package_modules = {"decode.so", "stream.so"};
    EXPECT_TRUE(seal::write_sealed(sealed, path).ok());
    bytes = *read_text(path);
  }
  std::string error_of(const std::string& text) const {
    const auto got = seal::parse_sealed(std::as_bytes(std::span(text)), "t.cgtrace");
    return got.ok() ? "" : got.error();
  }

  TraceBuilder trace;
  seal::SealedTrace sealed;
  std::string path = (std::filesystem::path(testing::TempDir()) / "file.cgtrace").string();
  std::string bytes;
};

TEST_F(SealedFile, ComesBackWhole) {
  const auto back = seal::read_sealed(path);
  ASSERT_TRUE(back.ok()) << back.error();
  EXPECT_EQ(back->run.argv, sealed.run.argv);
  EXPECT_EQ(back->run.exit_code, 3);
  EXPECT_FALSE(back->run.signal.has_value());
  EXPECT_EQ(back->expected.buckets, sealed.expected.buckets);
  EXPECT_EQ(back->expected.suppressions.text, sealed.expected.suppressions.text);
  EXPECT_EQ(back->unseen.at(0).argv0, "worker");
  EXPECT_EQ(back->reasons.at(0).remedy, "remedy");
  EXPECT_EQ(back->frames.size(), sealed.frames.size());
  EXPECT_EQ(back->sources.at(0).lines.at(7), "x = 1");
  EXPECT_EQ(back->sources.at(0).allows.at(0).line, 6);
  EXPECT_EQ(back->program, sealed.program);
  EXPECT_EQ(back->package_modules, sealed.package_modules);
  ASSERT_EQ(back->processes.size(), 1u);
  EXPECT_EQ(back->processes[0].trace.calls.size(), sealed.processes[0].trace.calls.size());
  EXPECT_EQ(back->processes[0].native_stacks, sealed.processes[0].native_stacks);
}

TEST_F(SealedFile, CutAnywhereIsOneSentence) {
  for (size_t keep = 0; keep < bytes.size(); keep += 7) {
    const std::string error = error_of(bytes.substr(0, keep));
    EXPECT_EQ(error.rfind("t.cgtrace: ", 0), 0u) << keep;
  }
}

TEST_F(SealedFile, EveryFlippedByteIsNoticed) {
  for (size_t at = 0; at < bytes.size(); at += 3) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x41);
    EXPECT_NE(error_of(damaged), "") << at;
  }
}

// What no report may hold: it would be written and could not be read.
TEST_F(SealedFile, AFrameAtANegativeLine) {
  ASSERT_FALSE(sealed.frames.empty());
  sealed.frames.back().line = -64;
  ASSERT_TRUE(seal::write_sealed(sealed, path).ok());
  EXPECT_NE(error_of(*read_text(path)).find("a frame is at line -64"), std::string::npos);
}

TEST_F(SealedFile, AnotherVersionSaysWhatToDo) {
  std::string other = bytes;
  other[8] = 9;
  EXPECT_NE(error_of(other).find("version 9; this capgate reads versions 1 to " +
                                 std::to_string(seal::kSealVersion)),
            std::string::npos);
}

TEST_F(SealedFile, MoreBehindTheEnd) {
  EXPECT_NE(error_of(bytes + "x").find("more follows"), std::string::npos);
}

TEST_F(SealedFile, ARawTraceAndAFolderSayWhatToGive) {
  const auto raw = trace.process().file();
  const auto got = seal::parse_sealed(raw, "r.cgraw");
  ASSERT_FALSE(got.ok());
  EXPECT_NE(got.error().find("a raw trace, not a sealed one"), std::string::npos);
  const auto folder = seal::read_sealed(testing::TempDir());
  ASSERT_FALSE(folder.ok());
  EXPECT_NE(folder.error().find(".cgtrace"), std::string::npos);
}

TEST_F(SealedFile, WhatIsNoFileOrFarTooLargeIsRefusedUnread) {
  const std::string pipe = testing::TempDir() + "/sealed_file_test.pipe";
  std::filesystem::remove(pipe);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& odd : {pipe, std::string("/dev/zero")}) {
    const auto got = seal::read_sealed(odd);
    ASSERT_FALSE(got.ok());
    EXPECT_NE(got.error().find("not a regular file"), std::string::npos) << odd;
  }
  std::filesystem::remove(pipe);
  const std::string large = testing::TempDir() + "/sealed_file_test.large";
  std::ofstream(large, std::ios::binary) << "CGSEALED";
  std::filesystem::resize_file(large, uint64_t{5} << 30);
  const auto got = seal::read_sealed(large);
  std::filesystem::remove(large);
  ASSERT_FALSE(got.ok());
  EXPECT_NE(got.error().find("larger than 4 GiB"), std::string::npos);
}

}  // namespace
}  // namespace capgate::test
