// Runs a worker process for each job, some at a time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "static_checks/worker/job.h"

namespace capgate::lint {

struct PoolSettings {
  std::string worker;      // path of capgate-lint-worker
  unsigned processes = 1;  // at a time
  double timeout_s = 300;  // for one unit, then it is killed
};

// Calls `done` once for each job, in the order in which they end. A worker that crashes, hangs, is killed or
// answers nonsense gives a Reply with `failure` and `remedy` set: the other jobs do not notice. `done`
// returns false to stop: what still runs is killed, and no further call follows.
void run_jobs(const std::vector<Job>& jobs, const PoolSettings& settings,
              const std::function<bool(size_t job, Reply reply)>& done);

}  // namespace capgate::lint
