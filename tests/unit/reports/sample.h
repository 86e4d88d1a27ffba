// Reports for the tests: a run that failed, a clean run, sources, each as its producer would fill it.
#pragma once

#include "reports/model/report.h"

namespace capgate::reports::testing {

// Two captures (one killed by an .item() deep in a helper), a frozen pageable copy in the completed one, an
// allowed wait, a note. finish() has been called.
Report failed_run();

// A passing run of `decode`: two buckets captured, replayed.
Report clean_run();

// A run of which nothing was captured, under a tool that held CUPTI.
Report inconclusive_run();

// What lint says about the same sources as clean_run().
Report clean_sources();

// The least violation that finish() accepts.
Violation violation(std::string rule, std::string file, int line, std::string function,
                    std::string callee = "", Evidence evidence = Evidence::runtime);

}  // namespace capgate::reports::testing
