// What the program says of itself: its ranges, buckets, allows and eager breaks, thread by thread.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "detector/analysis/timeline.h"

namespace capgate::analysis {

class ProgramMarks {
 public:
  // `patterns`: GLOB or DOMAIN@GLOB, the NVTX ranges that are steps.
  ProgramMarks(Timeline& out, const std::vector<std::string>& patterns) : out_(out), patterns_(patterns) {}

  void range(const trace::OnThread<trace::RegionRecord>& record);
  void mark(const trace::OnThread<trace::MarkRecord>& record);

  // Fills in what is in force on the call's thread.
  void describe(const Call& call, CallContext& context);
  // A capture begins on the thread. Returns the bucket in force, empty for none.
  std::string capture_begins(uint32_t tid);
  uint64_t visit(uint32_t tid) { return threads_[tid].visit; }

 private:
  struct OpenRange {
    std::string name;
    int32_t occurrence = kNone;  // of a marked one
    uint64_t range = 0;          // of a start/stop pair
    bool is_bucket = false;      // an NVTX range "bucket:NAME"
  };
  struct Thread {
    std::vector<OpenRange> ranges;
    std::vector<std::string> buckets;
    uint64_t visit = 0;  // of the bucket that was named last
    std::vector<Allow> allows;
    int breaks = 0;
  };

  bool is_marked(const trace::RegionRecord& r, std::string_view name) const;
  void open(Thread& thread, const trace::OnThread<trace::RegionRecord>& record);
  void close(Thread& thread, size_t i, uint64_t seq);
  void push_bucket(Thread& thread, std::string name);

  Timeline& out_;
  const std::vector<std::string>& patterns_;
  std::map<uint32_t, Thread> threads_;
  uint64_t visits_ = 0;
};

// After the run: which occurrence of its step each region is.
void number_steps(std::vector<RegionOccurrence>& regions);

}  // namespace capgate::analysis
