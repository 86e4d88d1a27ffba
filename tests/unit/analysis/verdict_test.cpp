// What a run proves, why it may prove nothing, and that the answer is the same everywhere.
#include <algorithm>
#include <filesystem>

#include "base/files/read_text.h"
#include "detector/analysis/analyze.h"
#include "detector/seal/sealed_file.h"
#include "reports/files/report_file.h"
#include "reports/verdict/verdict.h"
#include "tests/unit/analysis/expect.h"
#include "tests/unit/analysis/trace_builder.h"

namespace capgate::test {
namespace {

using reports::Verdict;
using Faults = std::vector<std::string>;

class Judged : public testing::Test {
 protected:
  TraceBuilder trace;
  ProcessBuilder& p = trace.process();

  void healthy() {
    p.at("decode.cpp", 10, "capture");
    p.healthy_capture();
    p.replay();
    p.end();
  }
  void inconclusive(const std::string& because) {
    const auto report = trace.report();
    EXPECT_EQ(report.verdict, Verdict::inconclusive) << text(report);
    const bool said = std::any_of(report.reasons.begin(), report.reasons.end(), [&](const auto& reason) {
      return reason.text.find(because) != std::string::npos && !reason.remedy.empty();
    });
    EXPECT_TRUE(said) << because << "\n" << text(report);
  }
};

TEST_F(Judged, CuptiHeldByAnother) {
  p.meta("cupti.state", "held-by:Nsight Systems");
  healthy();
  inconclusive("CUPTI is held by Nsight Systems");
  EXPECT_EQ(trace.report().coverage.cupti, "held-by:Nsight Systems");
}

TEST_F(Judged, NotAttached) {
  p.meta("cupti.state", "unavailable");
  p.meta("cupti.error", "libcupti was not found");
  healthy();
  inconclusive("libcupti was not found");
}

TEST_F(Judged, ARunThatLeftPartsOutToMeasureThem) {
  p.meta("setting.CAPGATE_WITHOUT", "operand-kinds");
  healthy();
  inconclusive("recorded without operand-kinds");
}

TEST_F(Judged, SubscribedAndDeaf) {
  p.meta("cupti.proof", "");
  healthy();
  inconclusive("no callback arrived after subscribing");
}

// A worker that only initialises CUDA makes no call; its library was heard in the same run.
TEST_F(Judged, AProcessWithoutACallIsNotDeafWhenItsLibraryWasHeard) {
  p.meta("cupti.path", "/usr/lib/libcupti.so.13");
  ProcessBuilder& worker = trace.process(200);
  worker.meta("cupti.path", "/usr/lib/libcupti.so.13");
  worker.meta("cupti.proof", "");
  worker.end();
  healthy();
  EXPECT_EQ(trace.report().verdict, Verdict::pass) << text(trace.report());
  worker.meta("cupti.path", "/opt/other/libcupti.so.11");
  inconclusive("process 200");
}

TEST_F(Judged, EventsDropped) {
  p.dropped = 12;
  healthy();
  inconclusive("12 events did not fit");
}

TEST_F(Judged, NothingJudged) {
  p.launch(kStream);
  p.end();
  inconclusive("no capture completed");
}

TEST_F(Judged, NoProcessAtAll) {
  TraceBuilder none;
  EXPECT_EQ(none.report().verdict, Verdict::inconclusive);
}

TEST_F(Judged, AProcessThatLeftNoTrace) {
  healthy();
  auto sealed = trace.sealed();
  sealed.unseen.push_back({4242, "worker", "the detector was not in it"});
  const auto report = analysis::analyze(sealed);
  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  EXPECT_NE(report.reasons.at(0).text.find("4242 (worker)"), std::string::npos);
}

TEST_F(Judged, AnExpectedBucketThatWasNotCaptured) {
  trace.buckets = {"decode bs=8"};
  healthy();
  inconclusive("\"decode bs=8\" was not captured");
}

TEST_F(Judged, AnExpectedBucketThatWas) {
  trace.buckets = {"decode bs=8"};
  p.mark(trace::MarkOp::bucket_push, "decode bs=8");
  healthy();
  const auto report = trace.report();
  EXPECT_EQ(report.verdict, Verdict::pass) << text(report);
  EXPECT_EQ(report.subject.buckets, std::vector<std::string>{"decode bs=8"});
  EXPECT_EQ(report.captures.at(0).bucket, "decode bs=8");
}

TEST_F(Judged, BucketByNvtxRange) {
  trace.buckets = {"bs=4"};
  p.push("bucket:bs=4");
  healthy();
  EXPECT_EQ(trace.report().verdict, Verdict::pass);
}

TEST_F(Judged, ACaptureLeftOpen) {
  p.at("decode.cpp", 10, "capture");
  p.begin_capture();
  p.launch(kStream);
  p.end();
  inconclusive("was still open");
}

TEST_F(Judged, AKilledProgramKeepsWhatItWrote) {
  p.at("decode.cpp", 10, "capture");
  p.healthy_capture();
  p.sync(kStream).result = trace::kPending;
  p.state = trace::FileState::open;
  trace.run.exit_code.reset();
  trace.run.signal = 9;
  const auto report = trace.report();
  EXPECT_EQ(report.verdict, Verdict::inconclusive) << text(report);
  EXPECT_EQ(report.coverage.captures_completed, 1u);
  EXPECT_EQ(reports::exit_code(report, reports::Severity::error, true), kExitInconclusive);
}

TEST_F(Judged, StoppedByTheUserIsNoReason) {
  healthy();
  trace.run.exit_code.reset();
  trace.run.signal = 2;
  trace.run.stopped_by_user = true;
  EXPECT_EQ(trace.report().verdict, Verdict::pass);
}

TEST_F(Judged, AProvenErrorBeatsEveryReason) {
  p.dropped = 3;
  p.at("decode.cpp", 10, "capture");
  p.begin_capture();
  p.at("decode.cpp", 11, "capture");
  p.sync(kStream, 900);
  p.end_capture(kStream, 0, 901);
  trace.run.exit_code = 1;
  const auto report = trace.report();
  EXPECT_EQ(report.verdict, Verdict::fail);
  EXPECT_GE(report.reasons.size(), 2u);
}

TEST_F(Judged, AFrameworkThatRefusesItselfIsNoPass) {
  p.in_python("model.py", 12, "step");
  p.begin_capture();
  p.launch(kStream);
  p.end_capture();
  p.end();
  trace.run.exit_code = 1;
  const auto report = trace.report();
  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  const auto& open = report.coverage.not_checked;
  EXPECT_TRUE(std::any_of(open.begin(), open.end(), [](const auto& line) {
    return line.find("a framework that refuses a call itself") != std::string::npos;
  })) << text(report);
}

TEST_F(Judged, ProcessesAreMerged) {
  for (const uint32_t pid : {100u, 101u}) {
    auto& rank = trace.process(pid);
    rank.meta("rank", std::to_string(pid - 100));
    rank.at("decode.cpp", 10, "capture");
    rank.begin_capture();
    rank.at("decode.cpp", 11, "route");
    rank.sync(kStream, 900);
    rank.end_capture(kStream, 0, 901);
    rank.end();
  }
  const auto report = trace.report();
  ASSERT_EQ(faults(report), Faults{"error host-sync decode.cpp:11 route"}) << text(report);
  EXPECT_EQ(report.violations[0].count, 2u);
  EXPECT_EQ(report.violations[0].processes, (std::vector<int64_t>{100, 101}));
  EXPECT_EQ(report.coverage.processes.at(1).rank, 1);
  EXPECT_EQ(report.coverage.captures_failed, 2u);
}

TEST_F(Judged, SuppressionsByFileAndByComment) {
  p.at("decode.cpp", 10, "capture");
  p.begin_capture();
  p.at("decode.cpp", 11, "route");
  p.sync(kStream, 900);
  p.end_capture(kStream, 0, 901);
  p.end();
  trace.suppressions = "host-sync:route  known and accepted\n";
  auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error host-sync decode.cpp:11 route (suppressed)"}) << text(report);
  EXPECT_EQ(report.verdict, Verdict::inconclusive);  // nothing else was judged

  trace.suppressions.clear();
  seal::SourceFile source;
  source.path = "decode.cpp";
  source.lines[11] = "  sync();";
  source.allows.push_back({10, "// capgate-allow(host-sync): measured, and fine"});
  trace.sources = {source};
  report = trace.report();
  ASSERT_EQ(report.violations.size(), 1u) << text(report);
  ASSERT_TRUE(report.violations[0].suppressed) << text(report);
  EXPECT_EQ(report.violations[0].suppressed->origin, "decode.cpp:10");
  ASSERT_EQ(report.violations[0].source.size(), 1u);
  EXPECT_EQ(report.violations[0].source[0].text, "  sync();");
}

TEST_F(Judged, TheSameReportFromTheFileByteForByte) {
  p.mark(trace::MarkOp::bucket_push, "decode");
  healthy();
  p.in_python("model/moe.py", 212, "route");
  p.begin_capture();
  p.sync(kStream, 900);
  p.end_capture(kStream, 0, 901);
  const auto sealed = trace.sealed();
  const auto path = (std::filesystem::path(testing::TempDir()) / "same.cgtrace").string();
  ASSERT_TRUE(seal::write_sealed(sealed, path).ok());
  auto back = seal::read_sealed(path);
  ASSERT_TRUE(back.ok()) << back.error();
  const auto a = (std::filesystem::path(testing::TempDir()) / "a.json").string();
  const auto b = (std::filesystem::path(testing::TempDir()) / "b.json").string();
  ASSERT_TRUE(reports::write_report(analysis::analyze(sealed), a).ok());
  ASSERT_TRUE(reports::write_report(analysis::analyze(*back), b).ok());
  const auto first = read_text(a), second = read_text(b);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(*first, *second);
  EXPECT_GT(first->size(), 1000u);
  EXPECT_TRUE(reports::read_report(a).ok());
}

TEST_F(Judged, EnvironmentAndSubject) {
  p.meta("subject.mode", "full");
  p.meta("torch", "2.11");
  healthy();
  const auto report = trace.report();
  EXPECT_EQ(report.environment.gpus.at(0).name, "NVIDIA H200");
  EXPECT_EQ(report.environment.gpus.at(0).sm, "90");
  EXPECT_EQ(report.environment.torch, "2.11");
  EXPECT_EQ(report.subject.mode, "full");
  EXPECT_EQ(report.subject.driver_branch, "580");
  EXPECT_EQ(report.subject.program, "decode");
}

}  // namespace
}  // namespace capgate::test
