// Records what on disk decided what the parser saw, so that the cache can tell whether it still does.
#pragma once

#include "static_checks/frontend/parse.h"
#include "static_checks/worker/job.h"

namespace capgate::lint {

// `since_ns`: when the parse began; what changed after it is not believed by its stamp.
Inputs record_inputs(const Unit& unit, const UnitCommand& command, int64_t since_ns);

}  // namespace capgate::lint
