// Graphs, the executables made of them, and their launches.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "detector/analysis/timeline.h"

namespace capgate::analysis {

class GraphReplays {
 public:
  explicit GraphReplays(Timeline& out) : out_(out) {}

  void captured(int32_t capture);  // it ended
  void graph(const trace::Object& object);
  void exec(const trace::Object& object);
  void instantiate(const Call& call);
  void update(const Call& call);
  void launch(size_t index);

 private:
  struct Exec {
    uint64_t number = 0;
    int32_t capture = kNone;
  };

  int32_t capture_of(uint64_t graph) const;
  void make(uint64_t exec, uint64_t graph);

  Timeline& out_;
  std::unordered_map<uint64_t, int32_t> graphs_;
  std::unordered_map<uint64_t, Exec> execs_;
  uint64_t exec_numbers_ = 0;
};

}  // namespace capgate::analysis
