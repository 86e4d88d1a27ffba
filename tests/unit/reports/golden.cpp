#include "tests/unit/reports/golden.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "base/files/read_text.h"
#include "base/files/write_text.h"

namespace capgate::reports::testing {

std::string golden_path(const std::string& name) {
  return CAPGATE_GOLDEN_DIR "/" + name;
}

void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = golden_path(name);
  if (std::getenv("CAPGATE_UPDATE_GOLDEN")) {
    ASSERT_TRUE(write_text(text, path).ok());
    return;
  }
  const auto golden = read_text(path);
  ASSERT_TRUE(golden.ok()) << golden.error();
  EXPECT_EQ(*golden, text) << path << " differs; CAPGATE_UPDATE_GOLDEN=1 writes it anew";
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace capgate::reports::testing
