// What a finding says is true of each of its occurrences, and of the line that it names.
#include "detector/analysis/analyze.h"
#include "detector/analysis/results.h"
#include "reports/verdict/causes.h"
#include "tests/unit/analysis/expect.h"
#include "tests/unit/analysis/trace_builder.h"

namespace capgate::test {
namespace {

class Sentences : public testing::Test {
 protected:
  Sentences() { trace.regions = {"decode"}; }

  template <class Body>
  reports::Report passes(Body body, int count = 4) {
    for (int pass = 0; pass < count; ++pass) {
      p.push("decode");
      body(pass);
      p.pop();
    }
    p.end();
    return trace.report();
  }
  void line(int number) { p.at("step.cpp", number, "step"); }
  void begin() {
    p.at("step.cpp", 10, "capture");
    p.begin_capture();
    p.launch(kStream);
  }
  void end_dead() {
    p.at("step.cpp", 90, "capture");
    p.end_capture(kStream, 0, analysis::kCaptureInvalidated);
    p.end();
  }

  TraceBuilder trace;
  ProcessBuilder& p = trace.process();
};

TEST_F(Sentences, SizesThatDifferAreARange) {
  const auto report = passes([&](int pass) {
    const auto more = static_cast<uint64_t>(pass);
    line(20), p.malloc(1024 * (more + 1));
    line(21), p.copy(Memory::pageable, Memory::device, 4 + more);
    line(22), p.copy_async(kStream, Memory::device, Memory::pageable, 8 + more, HostPlace::heap);
    line(23), p.copy_async(kStream, Memory::pageable, Memory::device, 1 + more, HostPlace::stack);
    p.sync(kStream);
  });
  EXPECT_EQ(
      only(report, "device-alloc").message,
      "allocates device memory (2048 to 4096 bytes) in the step \"decode\", which a capture of it would "
      "refuse");
  EXPECT_EQ(only(report, "device-alloc").bytes, 2048u + 3072 + 4096);
  EXPECT_EQ(only(report, "sync-copy").message,
            "copies 4 to 7 bytes: the host waits for it in the step \"decode\"");
  EXPECT_EQ(
      only(report, "pageable-copy").message,
      "copies 8 to 11 bytes from heap memory in the step \"decode\": a graph would keep the host address, "
      "not the bytes");
  const auto wait = only(report, "host-sync");
  EXPECT_EQ(wait.message, "the host waits for a copy of 1 to 4 bytes from the device in the step \"decode\"");
  EXPECT_EQ(wait.details.at("copy"), "1 to 4 bytes from the device (cudaMemcpyAsync)");
}

TEST_F(Sentences, OneSizeIsOneNumber) {
  const auto report = passes([&](int) {
    line(21), p.copy(Memory::pageable, Memory::device, 1);
    line(22), p.set(64);
  });
  EXPECT_EQ(report.violations.at(0).message, "copies 1 byte: the host waits for it in the step \"decode\"");
  EXPECT_EQ(report.violations.at(1).message,
            "sets 64 bytes: a capture of the step \"decode\" would leave it out");
}

TEST_F(Sentences, OneByteThatLeavesACaptureIsOneByte) {
  begin();
  line(50), p.copy_async(kSide, Memory::device, Memory::device, 1);
  p.at("step.cpp", 90, "capture");
  p.end_capture();
  p.instantiate();
  p.replay();
  p.end();
  EXPECT_EQ(only(trace.report(), "escaped-work").message.find("a copy of 1 byte went to s2"), 0u);
}

TEST_F(Sentences, ALibrarysCallIsNotTheLines) {
  begin();
  p.in_library("libcublas.so.13", "cublasCreate_v2+0x7e", "step.cpp", 50, "prepare");
  p.free(analysis::kCaptureUnsupported);
  end_dead();
  const auto fault = only(trace.report(), "device-alloc");
  EXPECT_EQ(
      fault.message,
      "killed capture 1 of s1: cublasCreate_v2 in libcublas.so.13 calls cudaFree, which a capture refuses");
  EXPECT_EQ(fault.details.at("called by"), "libcublas.so.13");
}

TEST_F(Sentences, ANoteOfLoadedCodeNamesTheKernelAndTheCapture) {
  p.at("step.cpp", 10, "capture");
  p.begin_capture();
  p.nowhere();
  const uint64_t seq = p.launch(kStream, "_Z4coldPi").h.seq;
  p.object(trace::RecordType::module_load, trace::ObjectOp::loaded, 0x55, 0, seq);
  p.at("step.cpp", 90, "capture");
  p.end_capture();
  p.instantiate();
  p.replay();
  p.end();
  const auto note = only(trace.report(), "lazy-load");
  EXPECT_EQ(note.message, "loads code while capture 1 of s1 is open, first that of the kernel cold");
  ASSERT_EQ(note.stacks.size(), 1u);
  EXPECT_EQ(note.stacks[0].role, reports::StackRole::origin);
  EXPECT_EQ(note.stacks[0].frames.at(1).line, 10);
}

// Four lines of one template are four findings, whatever it is instantiated for.
TEST_F(Sentences, InstantiationsOfATemplateAreOnePlace) {
  const auto report = passes([&](int pass) {
    p.at("step.cpp", 20, pass % 2 ? "run<float>(float*)" : "run<double>(double*)"), p.sync(kStream);
  });
  EXPECT_EQ(only(report, "host-sync").count, 4u);
}

// What a pageable copy holds the host up is blocked time as well, in the finding and in the run's figures.
TEST_F(Sentences, MetricsAgreeWithTheFindings) {
  const auto report = passes([&](int) {
    line(20);
    auto& alone = p.copy_async(kStream, Memory::device, Memory::pageable, 8 << 20, HostPlace::heap);
    alone.t_end_ns = alone.t_begin_ns + 7000;
    line(21);
    auto& read = p.copy_async(kStream, Memory::pageable, Memory::device, 4, HostPlace::stack);
    read.t_end_ns = read.t_begin_ns + 5000;
    auto& wait = p.sync(kStream);
    wait.t_end_ns = wait.t_begin_ns + 11000;
  });
  EXPECT_EQ(only(report, "pageable-copy").per_step->blocked_us, 7);
  EXPECT_EQ(only(report, "host-sync").per_step->blocked_us, 16);
  EXPECT_EQ(report.metrics.at("blocked_us_per_step"), 23);
  EXPECT_EQ(report.metrics.at("waits_per_step"), 2) << "the large upload, and the read-back with its wait";
}

TEST_F(Sentences, ACopyThatBlocksIsAWait) {
  const auto waits = [](bool with_wait) {
    TraceBuilder own;
    own.regions = {"decode"};
    ProcessBuilder& q = own.process();
    for (int pass = 0; pass < 4; ++pass) {
      q.push("decode");
      q.at("step.cpp", 20, "step");
      q.copy_async(kStream, Memory::pageable, Memory::device, 4, HostPlace::stack);
      q.at("step.cpp", 21, "step");
      if (with_wait) q.sync(kStream);
      q.pop();
    }
    q.end();
    return own.report().metrics.at("waits_per_step");
  };
  EXPECT_EQ(waits(false), 1);
  EXPECT_EQ(waits(true), 1) << "the wait on the next line is for this copy";
}

// The driver copies few bytes aside and returns, whatever the stream still has to do.
TEST_F(Sentences, ASmallUploadDoesNotBlock) {
  const auto report = passes([&](int) {
    line(20);
    auto& upload = p.copy_async(kStream, Memory::device, Memory::pageable, 64, HostPlace::heap);
    upload.t_end_ns = upload.t_begin_ns + 7000;
  });
  EXPECT_FALSE(only(report, "pageable-copy").per_step->blocked_us);
  EXPECT_EQ(report.metrics.at("blocked_us_per_step"), 0);
}

TEST_F(Sentences, ACacheThatMadeRoomIsOneCause) {
  begin();
  p.at("cache.cpp", 42, "Cache::get");
  p.call(Family::module_unload, "cuModuleUnload", analysis::kCaptureUnsupported);
  p.at("cache.cpp", 44, "Cache::get");
  p.call(Family::module_load, "cuModuleLoadData");
  end_dead();
  const auto report = trace.report();
  const reports::Causes causes(report);
  ASSERT_EQ(report.violations.size(), 2u) << text(report);
  EXPECT_EQ(report.violations[0].location.line, 42);
  EXPECT_EQ(causes.cause_of(report.violations[1]), &report.violations[0]);
  EXPECT_EQ(report.summary.notes, 0u);
  EXPECT_EQ(report.summary.symptoms, 1u);
}

TEST_F(Sentences, ALoadOfAnotherFunctionIsANoteOfItsOwn) {
  begin();
  p.at("cache.cpp", 42, "Cache::get");
  p.call(Family::module_unload, "cuModuleUnload", analysis::kCaptureUnsupported);
  p.at("step.cpp", 70, "other");
  p.call(Family::module_load, "cuModuleLoadData");
  end_dead();
  EXPECT_EQ(trace.report().summary.notes, 1u);
}

// The program's check of a call that CUDA refused: one cause, and the exception is how it came out.
TEST_F(Sentences, AnExceptionFollowsFromTheCallThatWasRefusedBeforeIt) {
  const auto run = [](bool work_between) {
    TraceBuilder own;
    ProcessBuilder& q = own.process();
    auto& other = q.on_stream(Family::stream_create, "cudaStreamCreate", kSide);
    other.device = other.stream_device = 1;
    q.at("step.cpp", 10, "capture");
    q.begin_capture();
    q.launch(kStream);
    q.at("step.cpp", 50, "second_half");
    auto& refused = q.launch(kStream);
    refused.domain = 1;
    refused.object = 0x7000;
    refused.result = analysis::kInvalidHandle;
    if (work_between) q.launch(kStream);
    q.at("step.cpp", 60, "check");
    q.exception(trace::ExceptionEvent::thrown, trace::ExceptionLanguage::cxx, "St13runtime_error", "refused",
                0x5000, 0);
    q.exception(trace::ExceptionEvent::leaves, trace::ExceptionLanguage::cxx, "", "", 0x5000, 1);
    q.at("step.cpp", 90, "capture");
    q.end_capture();
    q.end();
    return own.report();
  };
  const auto report = run(false);
  ASSERT_EQ(report.violations.size(), 2u) << text(report);
  EXPECT_EQ(report.violations[0].rule, "wrong-device");
  EXPECT_EQ(report.violations[1].rule, "capture-invalidated");
  EXPECT_EQ(report.violations[1].symptom_of, report.violations[0].id) << text(report);
  EXPECT_EQ(report.summary.errors, 1u);
  EXPECT_EQ(run(true).summary.errors, 2u) << "the program went on: it did not mind the refusal";
}

// The recorder keeps text, numbers and tuples of them; a report does not pass over any other key.
TEST_F(Sentences, AKeyThatIsNotRecordedIsMissed) {
  p.in_python("serve.py", 20, "capture");
  p.begin_capture();
  p.launch(kStream);
  p.in_python("serve.py", 50, "route");
  p.exception(trace::ExceptionEvent::leaves, trace::ExceptionLanguage::python, "KeyError", "");
  p.in_python("serve.py", 20, "capture");
  p.end_capture();
  p.end();
  EXPECT_EQ(only(trace.report(), "capture-invalidated").message,
            "killed capture 1 of s1: KeyError left it (the trace does not have its key); the capture was "
            "ended there, "
            "and its "
            "graph was never launched");
}

TEST_F(Sentences, AnEmptyGraphWasJudged) {
  p.at("step.cpp", 10, "capture");
  p.begin_capture();
  line(50), p.launch(kSide);
  p.at("step.cpp", 90, "capture");
  p.end_capture(kStream, 0);
  p.end();
  const auto report = trace.report();
  ASSERT_FALSE(report.reasons.empty());
  EXPECT_EQ(report.reasons[0].text,
            "no capture completed with work in it, and no marked region was seen twice");
}

// C++ that the builder of an installed package named is nobody's here to lint.
TEST_F(Sentences, SourcesOfInstalledPackagesAreNotTheUsers) {
  p.in_library("decode.cpython-312-x86_64-linux-gnu.so", "launch", "/home/ci/decode/launch.cpp", 3, "launch");
  p.healthy_capture();
  p.end();
  auto sealed = trace.sealed();
  for (auto& frame : sealed.frames)
    if (frame.file.starts_with("/home/ci")) frame.module = "decode.cpython-312-x86_64-linux-gnu.so";
  const std::vector<std::string> with{"/home/ci/decode/launch.cpp", "main.cpp"}, without{"main.cpp"};
  EXPECT_EQ(analysis::analyze(sealed).coverage.sources_run, with);
  sealed.package_modules = {"decode.cpython-312-x86_64-linux-gnu.so"};
  EXPECT_EQ(analysis::analyze(sealed).coverage.sources_run, without);
  // Installed from this checkout: named without the root, and the user's.
  for (auto& frame : sealed.frames)
    if (frame.file.starts_with("/home/ci")) frame.file = "csrc/launch.cpp";
  EXPECT_EQ(analysis::analyze(sealed).coverage.sources_run,
            (std::vector<std::string>{"csrc/launch.cpp", "main.cpp"}));
}

}  // namespace
}  // namespace capgate::test
