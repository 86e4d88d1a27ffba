// What `capgate doctor` finds out about one thing that capgate uses.
#pragma once

#include <string>
#include <vector>

namespace capgate::cli {

enum class CheckState {
  there,     // nothing to do
  optional,  // not there or not known, and an audit does without
  missing    // an audit does not work like this
};

struct Check {
  std::string name;  // "driver", "cupti", …: a key of --json, never changed
  CheckState state = CheckState::there;
  std::string text;     // one sentence about this machine
  std::string command;  // that would change it; empty: nothing to do
};

using Checks = std::vector<Check>;

}  // namespace capgate::cli
