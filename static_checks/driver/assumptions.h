// What the user says of host values that the sources leave open: `cfg.debug=0`, `getenv(DEBUG_SYNC)=unset`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "static_checks/model/finding.h"

namespace capgate::lint {

struct Assumption {
  std::string name, text;  // "cfg.debug"; "cfg.debug=0"
  int64_t value = 0;
  std::string origin;  // where it stands: "--assume", ".capgate.toml"
  mutable bool used = false;
};

// `value` is a whole number, true or false, set or unset. The error is one sentence.
Result<Assumption> read_assumption(std::string_view name, std::string_view value, std::string_view origin);
Result<Assumption> read_assumption(std::string_view text, std::string_view origin);  // NAME=VALUE

// Whether code behind the test cannot run: by what is assumed (the assumption that says so), or since nothing
// that was looked at sets what it asks for.
const Assumption* ruled_out(const HostTest& test, const std::vector<Assumption>& assumptions);
bool never_holds(const HostTest& test, const std::vector<std::string>& set);  // `set` in ascending order

}  // namespace capgate::lint
