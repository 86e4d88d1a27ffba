// An engine against a golden case.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/verify/choice_judge.h"
#include "engine/verify/golden_file.h"
#include "engine/verify/tested_engine.h"

namespace dsv4 {

inline constexpr double kLogitBound =
    1e-4;  // max |difference| over the spread (standard deviation) of the logits
inline constexpr double kComponentBound =
    1e-4;  // max |difference| over the root mean square of the component

struct ComponentDifference {
  std::string name;  // in the order in which a step computes them
  int position = 0;
  double difference = 0;
};

struct CaseReport {
  std::string name;
  int tokens = 0;               // teacher-forced, all rows
  double logit_difference = 0;  // over the spread
  int worst_row = 0, worst_position = 0;
  ChoiceTally choices;
  std::vector<ComponentDifference> components;
  int greedy_tokens = 0, greedy_forced = 0, greedy_wrong = 0;

  bool components_agree() const;
  bool ok() const {
    return logit_difference <= kLogitBound && choices.wrong == 0 && greedy_wrong == 0 && components_agree();
  }
};

enum class Precision { kFloat, kDouble };

// Feeds the case's tokens to all rows, each starting a few steps after the one before it, so that the rows of
// a step are at different positions; then repeats the greedy runs. Choices are judged by a double-precision
// run beside it.
// The engine is the CPU reference.
capgate::Result<CaseReport> verify_case(const GoldenFile& golden, const GoldenCase& c, Precision precision);
// Any other.
capgate::Result<CaseReport> verify_case(const GoldenFile& golden, const GoldenCase& c,
                                        const EngineFactory<float>& engine);

}  // namespace dsv4
