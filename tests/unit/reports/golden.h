// Golden files: what a text must be, byte for byte. CAPGATE_UPDATE_GOLDEN=1 writes them anew, for a look at
// the diff.
#pragma once

#include <string>
#include <vector>

namespace capgate::reports::testing {

std::string golden_path(const std::string& name);
void expect_golden(const std::string& name, const std::string& text);

std::vector<std::string> lines_of(const std::string& text);

}  // namespace capgate::reports::testing
