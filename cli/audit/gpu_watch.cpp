#include "cli/audit/gpu_watch.h"

#include <algorithm>

#include "cli/audit/trace_folder.h"

namespace capgate::cli {

void GpuWatch::look() {
  const std::set<pid_t> traced = traced_processes(trace_folder_);
  for (const pid_t pid : tree_.descendants(root_)) {
    const auto known = users_.find(pid);
    if (known != users_.end()) {
      known->second.traced = known->second.traced || traced.contains(known->second.own_number);
      continue;
    }
    if (!traced.contains(pid) && !tree_.has_cuda_device_open(pid)) continue;
    const auto mappings = tree_.mappings(pid);
    if (!mappings || mappings->libcuda == 0) continue;
    Seen seen;
    seen.argv0 = tree_.argv0(pid);
    seen.own_number = tree_.own_number(pid);
    seen.libcuda = mappings->libcuda;
    seen.detector = mappings->detector;
    seen.traced = traced.contains(seen.own_number);
    users_.emplace(pid, std::move(seen));
    order_.push_back(pid);
  }
}

std::vector<UnattachedProcess> GpuWatch::unattached() const {
  const std::set<pid_t> traced = traced_processes(trace_folder_);
  std::vector<UnattachedProcess> found;
  std::set<uint64_t> places;  // of libcuda: one that is mapped at the same place was inherited by fork
  for (const pid_t pid : order_) {
    const Seen& seen = users_.at(pid);
    const bool inherited = !places.insert(seen.libcuda).second;
    if (inherited || seen.traced || traced.contains(seen.own_number)) continue;
    found.push_back({pid, seen.argv0, seen.detector});
  }
  return found;
}

std::vector<pid_t> GpuWatch::running() const {
  std::vector<pid_t> found;
  for (const pid_t pid : tree_.descendants(root_)) {
    if (users_.contains(pid)) found.push_back(pid);
  }
  return found;
}

}  // namespace capgate::cli
