// Finds processes of the run that use CUDA and that the detector is not in.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cli/audit/process_tree.h"

namespace capgate::cli {

struct UnattachedProcess {
  pid_t pid = 0;
  std::string argv0;
  bool detector_loaded = false;  // the library is in it and yet left no trace
  bool operator==(const UnattachedProcess&) const = default;
};

class GpuWatch {
 public:
  GpuWatch(std::string trace_folder, pid_t root, ProcessTree tree = ProcessTree())
      : trace_folder_(std::move(trace_folder)), root_(root), tree_(std::move(tree)) {}

  // One look at every descendant. A process that left a trace is looked at once only, so that the watch costs
  // it nothing.
  void look();

  // Of all looks so far: CUDA was in use and no trace is there. A child that was forked by a process that
  // uses CUDA and then ran no other program cannot use CUDA itself and does not count.
  std::vector<UnattachedProcess> unattached() const;

  // Descendants that use CUDA and still run.
  std::vector<pid_t> running() const;

 private:
  struct Seen {
    std::string argv0;
    pid_t own_number = 0;
    uint64_t libcuda = 0;
    bool detector = false;
    bool traced = false;
  };

  std::string trace_folder_;
  pid_t root_;
  ProcessTree tree_;
  std::map<pid_t, Seen> users_;  // of CUDA
  std::vector<pid_t> order_;     // of users_, as they were found
};

}  // namespace capgate::cli
