// Which functions the regions of all units reach.
#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "static_checks/analysis.h"

namespace capgate::lint {

RegionReach reach_of_regions(const std::vector<UnitSummary>& units) {
  using At = std::pair<size_t, uint32_t>;  // unit and node
  std::unordered_map<std::string_view, std::vector<At>> by_usr;
  std::vector<At> work;
  std::vector<std::vector<bool>> reached(units.size());
  const auto visit = [&](const At& at) {
    if (reached[at.first][at.second]) return;
    reached[at.first][at.second] = true;
    work.push_back(at);
  };
  for (size_t u = 0; u < units.size(); ++u) {
    const auto& nodes = units[u].graph.nodes;
    reached[u].resize(nodes.size());
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      if (!nodes[i].internal && !nodes[i].usr.empty()) by_usr[nodes[i].usr].emplace_back(u, i);
      if (nodes[i].in_region) visit({u, i});
    }
  }
  const auto visit_all = [&](const std::string& usr) {
    if (const auto bodies = by_usr.find(usr); bodies != by_usr.end())
      for (const At& body : bodies->second) visit(body);
  };
  // A capture in a template that no unit instantiates is judged as it is written.
  for (const UnitSummary& unit : units) {
    for (const RegionExit& exit : unit.exits) visit_all(exit.call.callee_usr);
    for (const PatternSummary& pattern : unit.patterns)
      for (const RegionExit& exit : pattern.exits) visit_all(exit.call.callee_usr);
  }
  RegionReach reach;
  for (const UnitSummary& unit : units)
    for (const PatternSummary& pattern : unit.patterns) {
      reach.functions.insert({pattern.place.file, pattern.place.line, 0});
      reach.in_units.insert(unit.main_file);
    }
  std::map<Place, std::pair<uint64_t, uint64_t>>
      met;  // what is made of a template, or of a header, counts once
  while (!work.empty()) {
    const auto [u, i] = work.back();
    work.pop_back();
    const CallGraph& graph = units[u].graph;
    const CallGraph::Node& node = graph.nodes[i];
    if (node.line > 0 && node.file < graph.files.size()) {
      const Place at{graph.files[node.file], node.line, 0};
      reach.functions.insert(at);
      reach.in_units.insert(units[u].main_file);
      auto& [calls, foreign] = met[at];
      calls = std::max(calls, node.calls_met);
      foreign = std::max(foreign, node.foreign_met);
    }
    for (const uint32_t callee : node.calls)
      if (callee < graph.nodes.size()) visit({u, callee});
    for (const std::string& usr : node.leaves) visit_all(usr);
    // A virtual method's overriders, and a header's function, are in other units, too.
    if (!node.internal) visit_all(node.usr);
  }
  for (const auto& [place, numbers] : met) {
    reach.calls += numbers.first;
    reach.foreign_calls += numbers.second;
  }
  return reach;
}

}  // namespace capgate::lint
