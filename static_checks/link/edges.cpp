// Which wrapped begins and ends of other units a unit should be looked at with.
#include "static_checks/analysis.h"

namespace capgate::lint {

std::vector<CaptureEdge> edges_that_concern(const UnitSummary& unit,
                                            const std::map<std::string, CaptureEdge>& edges) {
  std::vector<CaptureEdge> wanted;
  for (const std::string& usr : unit.outside)
    if (const auto known = edges.find(usr); known != edges.end()) wanted.push_back(known->second);
  return wanted;
}

}  // namespace capgate::lint
