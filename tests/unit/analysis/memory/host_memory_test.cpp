// Pageable memory in a graph, and work that a thread does on purpose beside its capture.
#include "tests/unit/analysis/freed_memory.h"

namespace capgate::test {
namespace {

using reports::Severity;
using reports::Verdict;

// Pageable memory that a captured copy names.
class HostMemory : public FreedMemory {
 protected:
  void copied(HostPlace place, bool is_built_in = false) {
    p.at("step.cpp", 20, "record");
    p.begin_capture();
    if (is_built_in)
      p.built_in("step.cpp", 21, "upload");
    else
      p.at("step.cpp", 21, "upload");
    CallRecord& call = p.copy_async(kStream, Memory::device, Memory::pageable, 64, place);
    call.src = 0x7ffc0000;
    copy_ = call.h.seq;
    p.at("step.cpp", 20, "record");
    p.end_capture();
    p.instantiate();
  }
  uint64_t copy_ = 0;
};

TEST_F(HostMemory, IsAWarningWhereItIsShownToBeThereAtEveryLaunch) {
  copied(HostPlace::stack);
  p.host_operand(copy_, trace::OperandState::watched);
  launched(2);
  const auto report = this->report();
  EXPECT_EQ(faults(report), Faults{"warning pageable-copy step.cpp:21 upload"}) << text(report);
  EXPECT_EQ(report.verdict, Verdict::pass);
}

TEST_F(HostMemory, IsAnErrorOnceALaunchFoundItGone) {
  copied(HostPlace::stack);
  p.host_operand(copy_, trace::OperandState::watched);
  launched();
  p.host_operand(copy_, trace::OperandState::gone, p.replay().h.seq);
  const auto report = this->report();
  EXPECT_EQ(faults(report), Faults{"error pageable-copy step.cpp:21 upload"}) << text(report);
  EXPECT_NE(only(report, "pageable-copy").message.find("gone when the graph was launched"),
            std::string::npos);
}

// The frame is main's and still there; the variable may be upload's, which is over.
TEST_F(HostMemory, OfAFunctionThatIsBuiltIntoARunningOneIsNotShownToBeThere) {
  copied(HostPlace::stack, true);
  p.host_operand(copy_, trace::OperandState::watched);
  launched(2);
  const auto report = this->report();
  EXPECT_EQ(faults(report), Faults{"error pageable-copy step.cpp:21 upload"}) << text(report);
  EXPECT_NE(only(report, "pageable-copy").message.find("upload, which may own it, had ended"),
            std::string::npos);
}

TEST_F(HostMemory, OfABuiltInFunctionThatLaunchesItselfIsThere) {
  copied(HostPlace::stack, true);
  p.host_operand(copy_, trace::OperandState::watched);
  p.built_in("step.cpp", 25, "upload");
  p.replay();
  const auto report = this->report();
  EXPECT_EQ(faults(report), Faults{"warning pageable-copy step.cpp:21 upload"}) << text(report);
}

TEST_F(HostMemory, OfTheHeapIsNotShownToBeThere) {
  copied(HostPlace::heap);
  launched();
  EXPECT_EQ(faults(report()), Faults{"error pageable-copy step.cpp:21 upload"});
}

TEST_F(HostMemory, OfTheOtherOperandShowsNothing) {
  copied(HostPlace::stack);
  p.host_operand(copy_, trace::OperandState::watched, 0, false);
  launched();
  EXPECT_EQ(faults(report()), Faults{"error pageable-copy step.cpp:21 upload"});
}

TEST_F(HostMemory, OfAStaticIsThereAsLongAsTheProgram) {
  copied(HostPlace::module_data);
  launched();
  EXPECT_EQ(faults(report()), Faults{"warning pageable-copy step.cpp:21 upload"});
}

// A transport sets up a channel on first use inside a capture.
class ChannelSetup : public FreedMemory {
 protected:
  void captured_with_setup(bool waits) {
    p.at("step.cpp", 20, "record");
    p.begin_capture();
    p.launch(kStream);
    p.thread_mode(2);
    p.at("channel.cpp", 30, "connect");
    p.copy_async(kSide, Memory::device, Memory::pinned, 64);
    if (waits) p.sync(kSide);
    p.call(Family::capture_mode, "cudaThreadExchangeStreamCaptureMode");
    p.thread_mode(0);
    p.at("step.cpp", 20, "record");
    p.end_capture();
    p.instantiate();
    launched();
  }
};

TEST_F(ChannelSetup, WorkThatWasWaitedForInRelaxedModeIsANote) {
  captured_with_setup(true);
  const auto report = this->report();
  const auto fault = only(report, "escaped-work");
  EXPECT_EQ(fault.severity, Severity::note) << fault.message;
  // The wait belongs to it: who moves it elsewhere reads what is not there yet.
  const auto wait = only(report, "host-sync");
  EXPECT_EQ(wait.situation, "host-sync.private-setup");
  EXPECT_EQ(wait.hint.find("nothing; "), 0u) << wait.hint;
}

TEST_F(ChannelSetup, WithoutTheWaitItIsWorkThatEscaped) {
  captured_with_setup(false);
  EXPECT_EQ(only(report(), "escaped-work").severity, Severity::error);
}

TEST_F(ChannelSetup, WhatALaterEagerStepDoesAgainIsTheStepsWork) {
  captured_with_setup(true);
  p.at("channel.cpp", 30, "connect");
  p.copy_async(kSide, Memory::device, Memory::pinned, 64);
  EXPECT_EQ(only(report(), "escaped-work").severity, Severity::error);
}

}  // namespace
}  // namespace capgate::test
