// Copy nodes that are added by hand: without a region around them, where they certainly outlive the host
// memory that they name.
#include <algorithm>

#include "static_checks/interpret/interpreter.h"
#include "static_checks/models/arguments.h"
#include "static_checks/rules/memory.h"

namespace capgate::lint {
namespace {

const Node* base_of(const Node* n) {
  n = bare(n);
  while (n && !n->kids.empty() &&
         (n->op == Op::field || n->op == Op::index || n->op == Op::deref || n->op == Op::address ||
          (n->op == Op::call && n->has_object)))
    n = bare(n->kids[0]);
  return n;
}

bool is_local(const Node* n) {
  n = base_of(n);
  return n && n->op == Op::variable && n->variable->scope == Variable::Scope::local &&
         (!n->variable->type || n->variable->type->shape != Shape::reference);
}

// It is returned, or kept in what is no local.
bool is_handed_out(const Node* n, const Variable& v) {
  if (!n) return false;
  if (n->op == Op::give_back && !n->kids.empty() && mentions(n->kids[0], &v)) return true;
  if (n->op == Op::assign && mentions(n->kids[1], &v) && !is_local(n->kids[0])) return true;
  return std::any_of(n->kids.begin(), n->kids.end(), [&](const Node* kid) { return is_handed_out(kid, v); });
}

}  // namespace

// Whether the graph, or the executable, surely lives on when the function at hand has returned.
bool Interpreter::outlives_frame(const Node* graph, int depth) {
  const Node* base = base_of(graph);
  if (!base || depth > 3) return false;
  if (!is_local(graph))
    return base->op == Op::variable || base->op == Op::this_pointer || base->op == Op::field;
  if (is_handed_out(frame_->function->body, *base->variable)) return true;
  const auto declared = frame_->initials.find(base->variable);
  return declared != frame_->initials.end() && bare(declared->second)->op != Op::call &&
         outlives_frame(declared->second, depth + 1);
}

bool Questions::launches_graph(const Node* n, int depth) {
  if (!n || depth > 3) return false;
  if (n->op == Op::call && n->function) {
    if (n->function->spelled.starts_with("cudaGraphLaunch") ||
        n->function->spelled.starts_with("cuGraphLaunch"))
      return true;
    if (n->function->user && n->function->has_body && !n->function->device_only) {
      lowering_.lower(*n->function);
      if (launches_graph(n->function->body, depth + 1)) return true;
    }
  }
  return std::any_of(n->kids.begin(), n->kids.end(),
                     [&](const Node* kid) { return launches_graph(kid, depth); });
}

// `host`: what the node's host operand may be. A function that launches the graph itself may well do so while
// its locals live.
void Interpreter::note_node(const Api& api, const Node* n, const std::vector<Argument>& a,
                            const CallEvent& event, const std::vector<PathId>& host) {
  const Argument* graph = at_position(a, api.graph);
  if (!graph || !judged()) return;
  const bool over_a_local = !host.empty() && std::all_of(host.begin(), host.end(), [&](PathId p) {
    return is_pageable(cells_.memory_of(p)) && local_owner_of(p);
  });
  if (!over_a_local || !outlives_frame(graph->node) || launches_graph(frame_->function->body)) return;
  if (std::optional<Judgement> fault = host_pointer(event)) {
    fault->everywhere = true;
    add_finding("host-pointer", *fault, n, event.callee, nullptr);
  }
}

}  // namespace capgate::lint
