// What an analysis keeps of a unit as it goes: what it found, what it knows of functions and regions, and the
// lists that summaries refer to by number.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "static_checks/interpret/parts.h"

namespace capgate::lint {

struct Kept : Parts {
  // Calls in a function's body that were met with a region open, by node: with one that it has begun itself,
  // and with its caller's; of the second, and of all, those to other projects' functions.
  struct CallsMet {
    std::unordered_set<uint32_t> own, callers, foreign;
  };
  std::unordered_map<const Function*, CallsMet> calls_met_;
  std::deque<Chain> chains_;
  std::vector<Core> cores_ = std::vector<Core>(1);
  std::unordered_map<std::string, uint32_t> core_ids_;
  std::vector<Region> regions_ = std::vector<Region>(2);  // 0: none, 1: the caller's
  std::unordered_set<std::string> begun_for_objects_;  // functions of guards: where they begin is no region
  // Regions that functions open for their callers, and by the region of each call: which of them it opens.
  std::unordered_set<uint32_t> wrapped_;
  std::unordered_map<uint32_t, uint32_t> opens_;
  std::unordered_map<std::string, uint32_t> region_ids_;
  std::vector<std::pair<std::string, std::string>> allows_{{}};  // rule, reason
  std::vector<Test> tests_;
  std::vector<std::vector<Behind>> test_lists_{{}};  // from the outside in
  std::map<std::vector<Behind>, uint32_t> test_list_ids_;
  std::vector<std::vector<Counts>> given_{{}};  // operands of calls
  std::map<std::vector<Counts>, uint32_t> given_ids_;
  Identities bounds_;    // how far loops run
  Counts compared_ = 0;  // what decides the last comparison
  std::unordered_map<const Function*, Identities> counters_, steps_;
  std::unordered_map<const Function*, Parameters> parameters_;
  Function* root_now_ = nullptr;  // that is looked at
  std::map<std::pair<const Node*, bool>, uint32_t> test_ids_;
  std::unordered_map<uint32_t, std::pair<std::string, bool>> begun_if_;  // by region
  std::unordered_map<const Node*, const Node*> choices_;                 // what a switch asks, by its labels
  std::unordered_map<std::string, std::unique_ptr<Summary>> summaries_;
  std::unordered_map<std::string, const CaptureEdge*> edges_;
  std::unordered_map<Function*, Reach> reaches_;
  std::map<std::pair<uint32_t, uint32_t>, bool> writes_;     // function and parameter
  std::map<std::pair<uint32_t, PathId>, PathId> made_here_;  // by call and inner object
  std::unordered_map<PathId, int> wrappers_;                 // calls around an object's allocation
  std::unordered_map<const Function*, Function*> made_by_;
  std::unordered_map<const Record*, std::vector<Function*>> constructors_;  // the user's
  std::unordered_map<const Function*, std::vector<Function*>> callbacks_;
  std::unordered_map<const Function*, bool> reaches_cuda_;  // other projects'
  std::unordered_map<uint32_t, Memory> kinds_behind_;       // by member; filled when first asked
  bool knows_kinds_ = false;
  std::unordered_map<const Function*, int> active_;
  std::unordered_set<const Function*> interpreted_;
  // Who called whom, implicit calls such as those of destructors included.
  std::unordered_map<const Function*, std::unordered_set<Function*>> called_;
  std::unordered_set<Function*> in_region_;  // code of them, or a call to them, is in a region of this unit
  std::vector<std::pair<const Function*, uint32_t>> left_open_;  // functions that nobody called, and regions
  std::unordered_set<const Function*> continued_;  // callers go on with the region that it begins
  std::unordered_set<uint32_t> partly_ended_;      // regions: by what begins them, on some path
  bool ended_ = false;                             // Summary::ended of the function that was applied last
};

}  // namespace capgate::lint
