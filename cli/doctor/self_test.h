// Whether an audit finds a fault here: the one question that the other checks only come near to.
#pragma once

#include "cli/doctor/check.h"

namespace capgate::cli {

// Audits the planted fault, which must be found, and its clean twin, which must pass.
Check self_test();

// The same where there is no GPU to plant it on.
Check self_test_left_out();

}  // namespace capgate::cli
