// A fault as a rule sees it, at one call.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detector/analysis/timeline.h"
#include "reports/model/report.h"

namespace capgate::analysis {

// Where a fault is and how it was refused, when that is not the CUDA call that it is reported with.
struct Elsewhere {
  uint32_t stack = 0, python_stack = 0;
  std::string result;
};

// In a message or a detail, where the size belongs: it is known when all occurrences are.
inline constexpr std::string_view kSizeMark = "\x01";
inline constexpr std::string_view kBudgetMark = "\x02";  // for how the steps keep to the budget of waits

struct Finding {
  std::string rule;
  reports::Severity severity = reports::Severity::error;
  reports::Phase phase = reports::Phase::capture;
  std::string message;           // with kSizeMark for the size
  std::string killed;            // the captures that the call killed, where that is how it is headed
  std::optional<uint64_t> size;  // of what this call copies, sets or allocates
  size_t call = 0;               // where it is reported
  std::optional<Elsewhere> elsewhere;
  std::optional<Elsewhere> origin;  // one more stack, of no call either
  int32_t capture = kNone;
  std::optional<uint64_t> bytes;
  bool blocks = false;         // its time is the host's
  bool whole_process = false;  // one finding a process, at its first place (first-use notes)
  std::string only_once;       // one finding for each value within the process, whatever the place
  reports::StackRole role = reports::StackRole::call;  // of the stack of the place where it is reported
  std::vector<std::pair<reports::StackRole, size_t>> more_stacks;          // role, call
  std::vector<std::pair<reports::StackRole, Elsewhere>> stacks_elsewhere;  // role, of no call
  std::map<std::string, std::string> details;
};

}  // namespace capgate::analysis
