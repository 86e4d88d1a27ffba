// What a report must hold, said in one line a fault.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reports/model/names.h"
#include "reports/model/report.h"

namespace capgate::test {

// "error host-sync model.cpp:12 route" for each violation, sorted; suppressed ones end in " (suppressed)".
std::vector<std::string> faults(const reports::Report& report);

// The violation of this rule; fails the test and gives an empty one when there is none or several.
reports::Violation only(const reports::Report& report, const std::string& rule);

std::string text(const reports::Report& report);

}  // namespace capgate::test
