#include "detector/analysis/made_nodes.h"

namespace capgate::analysis {

MadeNodes::MadeNodes(const Timeline& timeline) {
  const GraphNodes nodes(timeline);
  const std::string pid = std::to_string(timeline.trace->pid);
  for (const Capture& capture : timeline.captures) {
    const std::string id = pid + ":" + std::to_string(capture.number + 1);
    uint64_t number = 0;
    for (const auto* node : nodes.of(capture)) {
      if (const auto call = nodes.maker(node->node, capture)) made_[*call].emplace_back(id, number);
      ++number;
    }
  }
  for (const Executable& exec : timeline.executables) {
    if (exec.launches.empty() || exec.versions.empty() || !exec.versions.back().captures.empty()) continue;
    const std::string id = pid + ":g" + std::to_string(exec.number);
    uint64_t number = 0;
    for (const NodeInGraph& in : nodes.in(exec.versions.back())) {
      if (in.maker) made_[*in.maker].emplace_back(id, number);
      ++number;
    }
  }
}

const MadeNodes::Made& MadeNodes::by(size_t call) const {
  static const Made kNothing;
  const auto made = made_.find(call);
  return made == made_.end() ? kNothing : made->second;
}

}  // namespace capgate::analysis
