// The gate: it opens on a passing report of this very engine, and each refusal says which and what to run.
#include "reports/gate/gate.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/files/read_text.h"
#include "base/files/write_text.h"
#include "reports/files/report_file.h"
#include "reports/gate/digests.h"
#include "reports/json/json.h"
#include "reports/merge/merge.h"
#include "reports/verdict/finish.h"
#include "tests/unit/reports/sample.h"

namespace capgate::gate {
namespace {

using reports::Report;
using reports::testing::clean_run;
using reports::testing::clean_sources;

Report good() {
  auto report = reports::merge(
      {{clean_run(), "r", std::string(64, '1')}, {clean_sources(), "s", std::string(64, '2')}}, "0.1.0");
  return *report;
}

Subject engine() {
  Subject self;
  self.build_id = "3f2a91c04b77d0e1";
  self.source_digest = std::string(64, '5');
  self.code_digest = std::string(64, '7');
  self.config_digest = std::string(64, 'c');
  self.mode = "full";
  self.buckets = {"bs=1", "bs=8"};
  self.sm = "sm_90";
  self.devices = 1;
  self.driver_branch = "580.65.06";
  return self;
}

class Gate : public ::testing::Test {
 protected:
  const std::string path_ = ::testing::TempDir() + "/gate_" +
                            ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".json";

  Answer ask(const Report& report, const Subject& self = engine(), Demands demands = {}) {
    EXPECT_TRUE(reports::write_report(report, path_).ok());
    demands.make_report = "scripts/gate";
    return check(path_, self, demands);
  }

  // One sentence that names the file and ends with what to run.
  void expect_refusal(const Answer& answer, Refusal refusal, const std::string& part) {
    EXPECT_STREQ(name(answer.refusal), name(refusal));
    EXPECT_FALSE(answer.open());
    EXPECT_EQ(answer.sentence.rfind("the gate is closed: ", 0), 0u) << answer.sentence;
    EXPECT_NE(answer.sentence.find(part), std::string::npos) << answer.sentence;
    EXPECT_NE(answer.sentence.find("; "), std::string::npos) << answer.sentence;
    EXPECT_EQ(answer.sentence.find('\n'), std::string::npos) << answer.sentence;
  }

  void TearDown() override { std::filesystem::remove(path_); }
};

TEST_F(Gate, OpensOnAPassingReportOfThisEngine) {
  const Answer answer = ask(good());
  EXPECT_TRUE(answer.open()) << answer.sentence;
  EXPECT_EQ(answer.sentence, "");
}

TEST_F(Gate, OpensForFewerBucketsThanTheReportHolds) {
  Subject self = engine();
  self.buckets = {"bs=8"};
  EXPECT_TRUE(ask(good(), self).open());
}

TEST_F(Gate, RefusesWhatItCannotRead) {
  expect_refusal(check("/nonexistent/m.json", engine()), Refusal::missing,
                 "there is no report at /nonexistent/m.json");
  expect_refusal(check("", engine()), Refusal::missing, "there is no report");
  expect_refusal(check("/tmp", engine()), Refusal::unreadable, "/tmp: is a directory");
  const std::string text = to_json(good());
  ASSERT_TRUE(write_text(text.substr(0, text.size() / 2), path_).ok());
  expect_refusal(check(path_, engine()), Refusal::unreadable, "truncated");
  // Whoever reads the first of two verdicts sees a fail.
  std::string two = text;
  two.insert(two.find("\"verdict\""), "\"verdict\": \"fail\", ");
  ASSERT_TRUE(write_text(two, path_).ok());
  expect_refusal(check(path_, engine()), Refusal::unreadable, "the key \"verdict\" appears twice");
  const std::string fifo = ::testing::TempDir() + "/gate_fifo";
  std::filesystem::remove(fifo);
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  expect_refusal(check(fifo, engine()), Refusal::unreadable, "is a named pipe, not a file");
  ASSERT_TRUE(write_text("", path_).ok());
  expect_refusal(check(path_, engine()), Refusal::unreadable, "is empty");
  ASSERT_TRUE(write_text("no json", path_).ok());
  expect_refusal(check(path_, engine()), Refusal::unreadable, "not JSON");
  ASSERT_TRUE(write_text("{\"schema\": \"capgate-report/1\"}", path_).ok());
  expect_refusal(check(path_, engine()), Refusal::unreadable, "is missing");
}

TEST_F(Gate, RefusesAnotherSchema) {
  ASSERT_TRUE(write_text("{\"schema\": \"capgate-report/2\"}", path_).ok());
  expect_refusal(check(path_, engine()), Refusal::other_schema, "capgate-report/2");
}

TEST_F(Gate, RefusesAFailedReport) {
  Report report = good();
  report.violations = {reports::testing::violation("host-sync", "a.cpp", 1, "f")};
  finish(report);
  expect_refusal(ask(report), Refusal::failed, "has 1 error; fix what `capgate show ");
}

TEST_F(Gate, RefusesAnInconclusiveReportWithItsRemedy) {
  Report report = good();
  report.reasons = {{"bucket bs=8 was not captured", "capgate audit --expect-bucket bs=8 -- decode"}};
  finish(report);
  expect_refusal(ask(report), Refusal::inconclusive,
                 "because bucket bs=8 was not captured; to do: capgate audit --expect-bucket bs=8 -- decode");
}

TEST_F(Gate, RefusesAnEditedVerdict) {
  Report report = good();
  report.violations = {reports::testing::violation("host-sync", "a.cpp", 1, "f")};
  finish(report);
  report.verdict = reports::Verdict::pass;
  expect_refusal(ask(report), Refusal::contradictory, "has the verdict pass, and an error");
}

TEST_F(Gate, RefusesAReportThatLostItsErrors) {
  Report report = good();
  report.violations = {reports::testing::violation("host-sync", "a.cpp", 1, "f")};
  finish(report);
  report.violations.clear();
  report.verdict = reports::Verdict::pass;
  expect_refusal(ask(report), Refusal::contradictory,
                 "contradicts itself: its summary counts 1 error, 0 warnings, 0 notes and 0 suppressed, and "
                 "there are 0 errors");
}

TEST_F(Gate, RefusesReportsOfAnotherSubject) {
  struct Case {
    Refusal refusal;
    const char* part;
    void (*edit)(Subject&);
  };
  const Case cases[] = {
      {Refusal::other_source, "about source digest 555555555555…, this is 666666666666…",
       [](Subject& s) { s.source_digest = std::string(64, '6'); }},
      {Refusal::other_build, "about build 3f2a91c04b77d0e1, this is beef",
       [](Subject& s) { s.build_id = "beef"; }},
      {Refusal::other_code, "code digest", [](Subject& s) { s.code_digest = "beef"; }},
      {Refusal::other_config, "config", [](Subject& s) { s.config_digest = "beef"; }},
      {Refusal::other_mode, "about mode full, this is piecewise", [](Subject& s) { s.mode = "piecewise"; }},
      {Refusal::bucket_missing, "has no bucket \"bs=64\"", [](Subject& s) { s.buckets.push_back("bs=64"); }},
      {Refusal::other_architecture, "about GPU architecture 90, this is 100",
       [](Subject& s) { s.sm = "10.0"; }},
      {Refusal::other_devices, "about number of GPUs 1, this is 8", [](Subject& s) { s.devices = 8; }},
      {Refusal::other_driver, "about driver branch 580, this is 595",
       [](Subject& s) { s.driver_branch = "595"; }},
  };
  for (const auto& [refusal, part, edit] : cases) {
    Subject self = engine();
    edit(self);
    const Answer answer = ask(good(), self);
    expect_refusal(answer, refusal, part);
    EXPECT_NE(answer.sentence.find("; run scripts/gate"), std::string::npos) << answer.sentence;
  }
}

TEST_F(Gate, RefusesAReportThatDoesNotSayWhatTheEngineAsks) {
  Report report = good();
  report.subject.config_digest.clear();
  expect_refusal(ask(report), Refusal::other_config, "does not say which config it is about");
  report = good();
  report.subject.build_id.clear();
  expect_refusal(ask(report), Refusal::other_build, "does not say which build it is about");
}

TEST_F(Gate, RefusesAnEngineWithoutIdentity) {
  Subject self = engine();
  self.build_id.clear();
  self.source_digest.clear();
  expect_refusal(ask(good(), self), Refusal::no_identity, "neither a build id nor a source digest");
}

TEST_F(Gate, RefusesWithoutACompletedCaptureOfEveryBucket) {
  Report report = good();
  report.captures[1].result = "failed:cudaErrorStreamCaptureUnsupported";
  expect_refusal(ask(report), Refusal::no_capture, "no completed capture of bucket \"bs=8\"");
  report.coverage.captures_completed = report.coverage.replays = 0;
  expect_refusal(ask(report), Refusal::no_capture, "saw no completed capture");
  Demands eager;
  eager.completed_capture = false;
  eager.allow_eager = true;
  expect_refusal(ask(report, engine(), eager), Refusal::contradictory, "nothing was judged");
  report.coverage.regions = {{"decode", reports::RegionSource::capgate_h, 3}};
  EXPECT_TRUE(ask(report, engine(), eager).open());
}

// An engine may ask for less than a capture of every bucket; that a marked step ran eagerly is less than
// that.
TEST_F(Gate, RefusesEagerEvidenceAloneUnlessItIsAllowed) {
  Report report = good();
  report.captures.clear();
  report.coverage.kind = reports::CoverageKind::eager;
  report.coverage.captures_completed = report.coverage.replays = 0;
  report.coverage.regions = {{"decode", reports::RegionSource::nvtx, 6}};
  finish(report);
  ASSERT_EQ(report.verdict, reports::Verdict::pass);
  expect_refusal(ask(report), Refusal::no_capture, "saw no completed capture");
  Demands demands;
  demands.completed_capture = false;
  expect_refusal(ask(report, engine(), demands), Refusal::only_eager,
                 "saw a marked step run eagerly, and no graph was captured");
  demands.allow_eager = true;
  EXPECT_TRUE(ask(report, engine(), demands).open());
  demands.completed_capture = true;
  EXPECT_EQ(ask(report, engine(), demands).refusal, Refusal::no_capture);
}

TEST_F(Gate, RefusesWithoutStaticEvidenceWhenAskedForIt) {
  const Report run = clean_run();
  expect_refusal(ask(run), Refusal::no_static_evidence, "run capgate lint");
  // merge overwrites none of its inputs, so nobody is told to.
  EXPECT_EQ(ask(run).sentence.find("--out " + path_), std::string::npos) << ask(run).sentence;
  Demands demands;
  demands.static_evidence = false;
  EXPECT_TRUE(ask(run, engine(), demands).open());
  Report unparsed = good();
  unparsed.coverage.files_failed = 1;
  expect_refusal(ask(unparsed), Refusal::no_static_evidence, "no static evidence");
}

TEST_F(Gate, TakesTheMachineFromTheEnvironmentWhenTheSubjectIsSilent) {
  Report report = good();
  report.subject.sm.clear();
  report.subject.devices.reset();
  report.subject.driver_branch.clear();
  EXPECT_TRUE(ask(report).open());
  Subject self = engine();
  self.devices = 2;
  EXPECT_EQ(ask(report, self).refusal, Refusal::other_devices);
}

TEST(Digests, NameThisExecutable) {
  const std::string self = self_build_id();
  const auto read = build_id("/proc/self/exe");
  ASSERT_TRUE(read.ok()) << read.error();
  EXPECT_EQ(self, *read);
  EXPECT_EQ(self_code_digest().size(), 64u);
  EXPECT_EQ(self_source_digest(), "");  // this test links none
  EXPECT_FALSE(source_digest("/proc/self/exe").ok());
}

TEST(Digests, SayWhatIsWrongWithAFile) {
  for (const auto& digest :
       {code_digest("/nonexistent"), build_id("/nonexistent"), source_digest("/nonexistent")})
    EXPECT_EQ(digest.error(), "/nonexistent: No such file or directory");
  EXPECT_EQ(code_digest("/etc/passwd").error(), "/etc/passwd: is not an ELF file");
  EXPECT_FALSE(code_digest("/tmp").ok());
}

TEST(Digests, SurviveDamagedElfFiles) {
  const auto whole = read_text("/proc/self/exe");
  ASSERT_TRUE(whole.ok());
  const std::string path = ::testing::TempDir() + "/damaged_elf";
  for (const size_t size : {size_t{4}, size_t{64}, size_t{4096}, whole->size() / 2, whole->size() - 100}) {
    ASSERT_TRUE(write_text(whole->substr(0, size), path).ok());
    (void)code_digest(path);
    (void)build_id(path);
    (void)source_digest(path);
  }
  std::filesystem::remove(path);
}

TEST(Digests, ReadVersionsAndArchitecturesAsPeopleWriteThem) {
  EXPECT_EQ(driver_branch("580.65.06"), "580");
  EXPECT_EQ(driver_branch("580"), "580");
  EXPECT_EQ(driver_branch(""), "");
  for (const char* sm : {"90", "sm_90", "sm90", "9.0"}) EXPECT_EQ(architecture(sm), "90");
}

}  // namespace
}  // namespace capgate::gate
