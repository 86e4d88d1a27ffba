// What /proc tells of the processes below this one.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace capgate::cli {

class ProcessTree {
 public:
  // `proc` is another folder than /proc in tests only.
  explicit ProcessTree(std::string proc = "/proc") : proc_(std::move(proc)) {}

  // Every living descendant of `root`, nearest first, without itself. Zombies count as living.
  std::vector<pid_t> descendants(pid_t root) const;

  // A process that ended meanwhile has none of these.
  bool has_cuda_device_open(pid_t pid) const;
  std::string argv0(pid_t pid) const;
  pid_t own_number(
      pid_t pid) const;  // the number that the process sees itself under, in its own pid namespace

  struct Mappings {
    uint64_t libcuda = 0;  // where libcuda.so.1 is mapped; 0 when it is not
    bool detector = false;
  };
  std::optional<Mappings> mappings(pid_t pid) const;

 private:
  bool children_listed(pid_t pid, std::vector<pid_t>& found) const;
  std::vector<pid_t> descendants_by_parent(pid_t root) const;

  std::string proc_;
};

}  // namespace capgate::cli
