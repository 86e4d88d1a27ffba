// Verifications of the program's own (verify_replay): what they say of themselves, and how far the calls of
// the run bear it out. A claim that they do not bear out is not counted.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "detector/analysis/graph_nodes.h"
#include "detector/analysis/timeline.h"
#include "detector/trace/process_trace.h"

namespace capgate::analysis {

// One step, and the records at which its phases begin; 0: it did not come that far.
struct VerifiedStep {
  bool replay = false;
  int set = 0, step = 0, filling = 0;
  bool refilled = false;
  uint64_t load_seq = 0, fill_seq = 0, launch_seq = 0, read_seq = 0;
  uint64_t end_seq = 0;  // of what comes behind it
};

struct OutputPlace {
  std::string name;
  uint64_t seq = 0, address = 0, bytes = 0;  // from this record on
  bool by_copy = false, on_host = false;     // how its copies are made; neither: by a kernel
};

struct ComparedOutput {
  std::string name;
  double noise = 0;
  bool varied = false;
};

// The first one of an output and an input set.
struct ReplayDifference {
  std::string what;
  bool state = false, refilled = false, kept = false;
  int set = 0, step = 0, filling = 0;
  uint64_t index = 0, elements = 0, of = 0;
  std::string eager, replay;
  double largest = 0, allowed = 0;
};

enum class VerifyEnd : uint8_t { open, equal, differs, nothing, raised };

struct Verification {
  std::string name;
  uint32_t tid = 0, stack = 0, python_stack = 0;
  uint64_t begin_seq = 0, end_seq = kNever;
  VerifyEnd end = VerifyEnd::open;
  std::string why;       // nothing and raised
  std::set<int> varied;  // sets whose eager outputs differ from those of set 0
  uint64_t refilled_bytes = 0;
  std::vector<VerifiedStep> steps;
  std::vector<OutputPlace> places;  // by seq
  std::vector<ComparedOutput> outputs;
  std::vector<ReplayDifference> differences;  // the one to name first comes first
};

std::vector<Verification> read_verifications(const trace::ProcessTrace& trace);

// What an executable holds at a launch: how many versions and edits came before.
struct ContentsAt {
  size_t versions = 0, edits = 0;
  auto operator<=>(const ContentsAt&) const = default;
};
ContentsAt contents_at(const Executable& exec, uint64_t seq);

// One executable in one verification.
struct ReplayEvidence {
  const Verification* of = nullptr;
  const Executable* exec = nullptr;    // null: the verification launched none
  std::optional<size_t> launch;        // the first one in a replay: a call
  bool differs = false;                // a set that launched it gave other results
  uint64_t input_sets = 0, steps = 0;  // that launched it, and in a row
  bool refilled = false;               // all of it ran again after free memory was filled
  std::set<ContentsAt> contents;       // with which it was launched in replays
  std::string why, remedy;             // of what is not counted; empty: it counts
  bool counts() const { return why.empty() && !differs; }
};

// By verification, then by executable.
std::vector<ReplayEvidence> replay_evidence(const Timeline& timeline, const GraphNodes& nodes,
                                            const std::vector<Verification>& verifications);

}  // namespace capgate::analysis
