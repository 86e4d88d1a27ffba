// Which function of the unit calls which, and which of them its regions reach.
#include <algorithm>
#include <unordered_map>

#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {
namespace {

// The same for every run.
std::vector<Function*> in_order(const std::unordered_set<Function*>& functions) {
  std::vector<Function*> list(functions.begin(), functions.end());
  std::sort(list.begin(), list.end(), [](const Function* a, const Function* b) { return a->id < b->id; });
  return list;
}

}  // namespace

CallGraph Interpreter::call_graph() {
  CallGraph graph;
  std::unordered_map<const Function*, uint32_t> ids;
  std::unordered_map<std::string, uint32_t> files;
  std::vector<Function*> functions;
  const auto id_of = [&](Function& f) {
    const auto [at, fresh] = ids.try_emplace(&f, static_cast<uint32_t>(functions.size()));
    if (fresh) functions.push_back(&f);
    return at->second;
  };
  for (Function* f : program_.user_functions) id_of(*f);
  for (Function* base : program_.overridden) id_of(*base);
  for (Function* f : in_order(in_region_)) id_of(*f);
  for (size_t i = 0; i < functions.size(); ++i) {  // NOLINT(modernize-loop-convert): it grows
    Function& f = *functions[i];
    CallGraph::Node node;
    node.usr = f.usr;
    node.internal = f.internal;
    node.in_region = in_region_.contains(&f);
    if (const auto met = calls_met_.find(&f); met != calls_met_.end()) {
      // A region of its own holds only a part of its body.
      node.calls_met = (met->second.own.empty() ? met->second.callers : met->second.own).size();
      node.foreign_met = met->second.foreign.size();
    }
    if (f.has_body && !f.place.file.empty()) {
      const auto [at, fresh] = files.try_emplace(f.place.file, static_cast<uint32_t>(graph.files.size()));
      if (fresh) graph.files.push_back(f.place.file);
      node.file = at->second;
      node.line = f.place.line;
    }
    if (f.has_body) lowering_.lower(f);
    const auto calls = [&](Function& callee) {
      if (callee.has_body && callee.user)
        node.calls.push_back(id_of(callee));
      else if (!callee.usr.empty())
        node.leaves.push_back(callee.usr);
    };
    for (Function* callee : f.callees) {
      if (callee->user || !callee->overriders.empty()) calls(*callee);
      if (!callee->user)
        if (Function* made = made_by(*callee)) calls(*made);
    }
    if (const auto called = called_.find(&f); called != called_.end())
      for (Function* callee : in_order(called->second)) calls(*callee);
    for (Function* overrider : f.overriders) calls(*overrider);
    const auto once = [](auto& list) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    };
    once(node.calls);
    once(node.leaves);
    graph.nodes.push_back(std::move(node));
  }
  return graph;
}

}  // namespace capgate::lint
