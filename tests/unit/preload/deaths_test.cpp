// A capture that dies is reported at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "tests/unit/preload/audited.h"

namespace capgate::test {
namespace {

using trace::RecordType;

TEST(Preload, ACallThatKillsTheCaptureIsToldAtOnceAndRecorded) {
  const Audited run = run_audited("broken");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.err.find("capgate: capture died: cudaStreamSynchronize returned 900 at "), std::string::npos)
      << run.err;
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  const auto sync = calls(run.only(), "cudaStreamSynchronize");
  ASSERT_EQ(sync.size(), 1u);
  EXPECT_EQ(sync[0].result, 900);
  EXPECT_EQ(sync[0].capture_status, 1);
  EXPECT_NE(sync[0].stack, 0u);
  EXPECT_TRUE(sync[0].flags & trace::kCapturing);
  const auto captures = records<trace::CaptureRecord>(run.only(), RecordType::capture);
  ASSERT_EQ(captures.size(), 1u);
  EXPECT_EQ(captures[0].result, 901);
  EXPECT_EQ(captures[0].graph, 0u);
}

TEST(Preload, TheLauncherIsToldOfADeathInPlaceOfTheTerminal) {
  const std::string file = fresh_folder() + "/deaths";
  std::ofstream(file).close();
  const Audited run = run_audited("broken", {.env = {{"CAPGATE_DEATHS", file}}});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
  std::ifstream in(file);
  std::string notice, more;
  ASSERT_TRUE(std::getline(in, notice));
  EXPECT_FALSE(std::getline(in, more)) << "one line for one death";
  EXPECT_EQ(notice.rfind("cudaStreamSynchronize\t900\t0\t\t" FAKE_PROGRAM "+0x", 0), 0u) << notice;
}

TEST(Preload, ADeathThatNobodyListensToIsToldOnTheTerminal) {
  const std::string folder = fresh_folder();
  for (const std::string& file : {folder + "/missing", folder}) {
    const Audited run = run_audited("broken", {.env = {{"CAPGATE_DEATHS", file}}});
    EXPECT_NE(run.err.find("capgate: capture died: cudaStreamSynchronize returned 900 at "),
              std::string::npos)
        << run.err;
  }
}

}  // namespace

}  // namespace capgate::test
