// `dsv4 verify --replay`: replays of the captured step against eager steps.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
}

namespace dsv4::cli {

struct ReplayOptions {
  bool replay = false;
  std::string model, gate, mode = "full";
  std::vector<int> buckets = {1, 2, 4};
  int rounds = 3, tokens = 48;
};

void add_replay_options(CLI::App& command, CLI::App& what, ReplayOptions& options);

// Whether every round was equal, after showing each.
capgate::Result<bool> verify_replay(const ReplayOptions& options);

}  // namespace dsv4::cli
