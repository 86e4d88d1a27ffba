// What is merged in the tests, and how.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "reports/merge/merge.h"
#include "reports/verdict/finish.h"

namespace capgate::reports::testing {

inline MergeInput input(Report report, std::string name, char digest) {
  return {std::move(report), std::move(name), std::string(64, digest)};
}

inline Report merged(std::vector<MergeInput> inputs) {
  auto report = merge(std::move(inputs), "0.1.0");
  EXPECT_TRUE(report.ok()) << (report ? "" : report.error());
  return report ? *report : Report{};
}

inline Report adding(Report report, std::vector<Violation> faults) {
  report.violations = std::move(faults);
  finish(report);
  return report;
}

}  // namespace capgate::reports::testing
