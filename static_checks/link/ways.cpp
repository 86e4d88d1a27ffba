#include "static_checks/link/ways.h"

#include <algorithm>
#include <string>

namespace capgate::lint {
namespace {

bool are_opposite(const HostTest& a, const HostTest& b) {
  const auto negates = [](const std::string& one, const std::string& other) {
    return one == "!" + other || one == "!(" + other + ")";
  };
  return a.place == b.place && (negates(a.text, b.text) || negates(b.text, a.text));
}

}  // namespace

bool is_behind(const std::vector<HostTest>& more, const std::vector<HostTest>& less) {
  return std::all_of(less.begin(), less.end(), [&](const HostTest& test) {
    return std::find(more.begin(), more.end(), test) != more.end();
  });
}

bool leave_out_opposite(std::vector<HostTest>& tests, const std::vector<HostTest>& other) {
  if (tests.size() != other.size()) return false;
  size_t parting = tests.size();
  for (size_t i = 0; i < tests.size(); ++i) {
    if (tests[i] == other[i]) continue;
    if (parting != tests.size() || !are_opposite(tests[i], other[i])) return false;
    parting = i;
  }
  if (parting == tests.size()) return false;
  tests.erase(tests.begin() + static_cast<long>(parting));
  return true;
}

}  // namespace capgate::lint
