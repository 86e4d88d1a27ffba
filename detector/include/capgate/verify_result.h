/* What a verification is given, and what it comes to. Part of verify.h. */
#ifndef CAPGATE_VERIFY_RESULT_H
#define CAPGATE_VERIFY_RESULT_H

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "verify_numbers.h"

namespace capgate {

struct replay_check {
  std::string name = "the step";
  std::function<void()> eager;
  std::function<void()> replay;
  std::function<void(int set, int step)> load;  // before every step
  std::vector<buffer> outputs;                  // filled before every step
  std::vector<buffer> state;                    // put back before every run, and compared as outputs are
  int inputs = 2;
  int steps = 3;
  double relative = -1, absolute = -1;  // what rounding may change; below 0: by the element's type
  bool refill = true;                   // whether to do it all again with free device memory filled
  std::size_t most_refilled = std::size_t{1} << 30;  // bytes
};

struct replay_result {
  std::string name;
  int inputs = 0, steps = 0;
  std::string nothing;  // why the call can prove nothing, or which CUDA call failed
  std::vector<replay_mismatch> mismatches;
  std::vector<std::string> unvaried;  // buffers that no input set changed: nothing is proved about them
  std::size_t refilled = 0;           // bytes

  bool ok() const { return nothing.empty() && mismatches.empty(); }

  std::string text() const {
    if (!nothing.empty()) return name + ": nothing is verified: " + nothing;
    if (mismatches.empty()) {
      std::string said = name + ": replays gave the eager results for " + std::to_string(inputs) +
                         " input sets over " + std::to_string(steps) + " consecutive steps";
      if (refilled) said += ", again after " + std::to_string(refilled) + " bytes of free memory were filled";
      for (std::size_t i = 0; i < unvaried.size(); ++i)
        said += (i ? ", " : "; no input set changed ") + unvaried[i];
      return said;
    }
    const replay_mismatch& first = mismatches.front();
    char numbers[160];
    std::snprintf(numbers, sizeof numbers, "element %zu is %.9g, eagerly %.9g (%zu of %zu elements differ",
                  first.index, first.replay, first.eager, first.elements, first.of);
    std::string said = "replay-mismatch in " + name + ": " + first.what + " differs in step " +
                       std::to_string(first.step + 1) + ", input set " + std::to_string(first.set);
    if (first.refilled) said += ", after free memory was filled";
    said += std::string(": ") + numbers;
    std::snprintf(numbers, sizeof numbers,
                  std::isnan(first.largest) ? ", some by no finite number)" : ", by %.3g at most)",
                  first.largest);
    said += numbers;
    if (mismatches.size() > 1) said += "; " + std::to_string(mismatches.size() - 1) + " more";
    return said;
  }
};

}  // namespace capgate

#endif
