// A program that verifies its captured graph, as verify_replay would.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/unit/analysis/freed_memory.h"

namespace capgate::test {

inline constexpr uint64_t kLogits = 0x7f0000400000, kLogitsBytes = 256;

struct Story {
  int sets = 2, steps = 3, rounds = 2;
  std::string by = "copy";
  // Absent: a copy to the device, a kernel, a launch of kExec, a copy of the whole output to the host.
  std::function<void(int set, int step)> loads = {}, eager = {}, replays = {};
  std::function<void(uint64_t address, uint64_t bytes)> reads = {};
  std::vector<std::pair<std::string, std::string>> differs = {};  // output, facts
  std::string result = "equal";                                   // empty: it does not end
  std::string how = "refilled=4096 varied=1";
};

class Verified {
 public:
  explicit Verified(ProcessBuilder& process) : p(process) {}

  void captured() {
    p.at("step.cpp", 20, "record");
    p.healthy_capture();
  }

  void verify(const Story& story) {
    using trace::VerifyOp;
    p.at("test_decode.cpp", 30, "test_decode");
    p.verify(VerifyOp::begin, "decode",
             "inputs=" + std::to_string(story.sets) + " steps=" + std::to_string(story.steps));
    p.at("capgate/verify.h", 200, "capgate::verify_detail::trial::run");
    p.verify(VerifyOp::output, "logits",
             "address=" + std::to_string(kLogits) + " bytes=" + std::to_string(kLogitsBytes) +
                 " by=" + story.by + " state=0");
    for (int round = 0; round < story.rounds; ++round)
      for (int set = 0; set < story.sets; ++set)
        for (const int filling : {0, 1})
          for (const bool replay : {false, false, true})
            for (int step = 0; step < story.steps; ++step)
              one_step(story, replay, set, step, filling, round == 1);
    for (const auto& [what, facts] : story.differs) p.verify(VerifyOp::differs, what, facts);
    p.verify(VerifyOp::output, "logits", "noise=0.25 varied=1");
    p.verify(VerifyOp::output, "position", "noise=0 varied=0");
    if (!story.result.empty()) p.verify(VerifyOp::end, story.result, story.how);
  }

 private:
  void one_step(const Story& story, bool replay, int set, int step, int filling, bool refilled) {
    using trace::VerifyOp;
    p.verify(VerifyOp::step, "load",
             "run=" + std::string(replay ? "replay" : "eager") + " set=" + std::to_string(set) +
                 " step=" + std::to_string(step) + " filling=" + std::to_string(filling) +
                 " refilled=" + (refilled ? "1" : "0"));
    if (story.loads)
      story.loads(set, step);
    else
      p.copy(Memory::device, Memory::pageable, 64).dst = kBlock;
    p.verify(VerifyOp::step, "fill", "");
    p.set(kLogitsBytes).dst = kLogits;
    p.device_sync();
    p.verify(VerifyOp::step, "launch", "");
    if (replay)
      story.replays ? story.replays(set, step) : static_cast<void>(p.replay());
    else
      story.eager ? story.eager(set, step) : static_cast<void>(p.launch(kStream, "eager"));
    p.device_sync();
    p.verify(VerifyOp::step, "read", "");
    if (story.reads)
      story.reads(kLogits, kLogitsBytes);
    else
      p.copy(Memory::pageable, Memory::device, kLogitsBytes).src = kLogits;
  }

  ProcessBuilder& p;
};

inline void expect_not_counted(const reports::Report& report, const std::string& why) {
  ASSERT_TRUE(report.coverage.replay);
  ASSERT_EQ(report.coverage.replay->verified.size(), 1u);
  const auto& verified = report.coverage.replay->verified[0];
  EXPECT_EQ(verified.result, reports::ReplayResult::not_counted);
  EXPECT_EQ(verified.why, why);
  EXPECT_FALSE(verified.remedy.empty());
  if (verified.executable) {
    EXPECT_FALSE(report.coverage.replay->not_verified.empty());
  }
}

class Verifications : public FreedMemory {
 protected:
  void captured_in(const std::string& bucket) {
    p.mark(trace::MarkOp::bucket_push, bucket);
    captured();
    p.mark(trace::MarkOp::bucket_pop);
  }
  void verify(const Story& story) { Verified(p).verify(story); }
};

}  // namespace capgate::test
