// What is asked on the ways that lead from a region to a function of another unit.
#pragma once

#include <vector>

#include "static_checks/model/finding.h"

namespace capgate::lint {

// All that `less` asks is asked by `more`, too.
bool is_behind(const std::vector<HostTest>& more, const std::vector<HostTest>& less);

// Leaves in `tests` what is asked on both of two ways that part at one test only; false: they differ in more.
bool leave_out_opposite(std::vector<HostTest>& tests, const std::vector<HostTest>& other);

}  // namespace capgate::lint
