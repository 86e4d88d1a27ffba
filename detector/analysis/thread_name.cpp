#include "detector/analysis/thread_name.h"

namespace capgate::analysis {

std::string thread_name(const Timeline& timeline, uint32_t tid) {
  if (tid == timeline.trace->pid) return "main";
  const std::string number = std::to_string(tid);
  const auto name = timeline.thread_names.find(tid);
  return name == timeline.thread_names.end() || name->second.empty() ? number
                                                                     : name->second + " (" + number + ")";
}

}  // namespace capgate::analysis
