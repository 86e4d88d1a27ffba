// Captures that are made again for each value of a key, as `if (graph_length != length) { …capture…;
// graph_length = length; }`. A graph is replayed for the key that it was captured with: what the host decides
// by the key while it captures holds at each replay.
#include <algorithm>

#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {
namespace {

bool is_same_place(const Node* a, const Node* b) {
  a = bare(a);
  b = bare(b);
  if (!a || !b || a->op != b->op) return false;
  if (a->op == Op::variable) return a->variable == b->variable;
  if (a->op == Op::this_pointer) return true;
  if (a->op != Op::field && a->op != Op::deref) return false;
  return (a->op != Op::field || a->name == b->name) && is_same_place(a->kids[0], b->kids[0]);
}

bool ends_with_the_call(const Node* n) {
  n = bare(n);
  return n->op == Op::variable && n->variable->scope == Variable::Scope::local;
}

bool is_place(const Node* n) {
  n = bare(n);
  return n && (n->op == Op::variable || n->op == Op::field);
}

template <class F>
bool any_below(const Node* n, const F& holds) {
  if (!n) return false;
  return holds(n) ||
         std::any_of(n->kids.begin(), n->kids.end(), [&](const Node* kid) { return any_below(kid, holds); });
}

// `kept = key`
bool keeps(const Node* n, const Node* kept, const Node* key) {
  return any_below(n, [&](const Node* one) {
    const bool assigns = one->op == Op::assign || (one->op == Op::call && one->has_object && one->function &&
                                                   one->function->spelled == "operator=");
    return assigns && one->kids.size() == 2 && is_same_place(one->kids[0], kept) &&
           is_same_place(one->kids[1], key);
  });
}

// `graphs[key] = …`, `graphs.emplace(key, …)`
bool fills(const Node* n, const Node* graphs, const Node* key) {
  return any_below(n, [&](const Node* one) {
    if (one->op != Op::call || !one->has_object || !one->function || one->function->is_const) return false;
    return is_same_place(one->kids[0], graphs) &&
           std::any_of(one->kids.begin() + 1, one->kids.end(),
                       [&](const Node* argument) { return is_same_place(argument, key); });
  });
}

}  // namespace

bool Questions::begins_below(const Node* n) {
  return any_below(n, [&](const Node* one) {
    if (one->op != Op::call || !one->function) return false;
    const Api* api = api_of(*one->function);
    if (api) return api->is == Is::begin_capture || api->is == Is::begin_region;
    return one->function->user && reach(*one->function).begins_region;
  });
}

// The key in `graphs.find(key)`, `graphs.count(key)` and `graphs.contains(key)`, or in a local that holds
// what was found.
const Node* Interpreter::looked_up(const Node* n) {
  n = bare(n);
  for (int depth = 0; n && depth < 4; ++depth) {
    if (n->op == Op::variable && n->variable->scope == Variable::Scope::local) {
      const auto declared = frame_->initials.find(n->variable);
      n = declared == frame_->initials.end() ? nullptr : bare(declared->second);
    } else if (n->op == Op::construct && n->kids.size() == 1) {
      n = bare(n->kids[0]);
    } else {
      break;
    }
  }
  if (!n || n->op != Op::call || !n->has_object || !n->function || n->function->user || n->kids.size() != 2)
    return nullptr;
  const std::string& name = n->function->spelled;
  return name == "find" || name == "count" || name == "contains" ? n : nullptr;
}

// The keys for which `guarded` captures, where it runs because they are not the one of the graph at hand.
void Interpreter::find_keys(const Node* condition, bool wanted, const std::vector<const Node*>& guarded,
                            std::vector<const Node*>& keys) {
  const Node* n = bare(condition);
  if (n->op == Op::unary && n->unary() == UnaryOp::logical_not)
    return find_keys(n->kids[0], !wanted, guarded, keys);
  if (n->op == Op::logical_and || n->op == Op::logical_or) {
    for (const Node* kid : n->kids) find_keys(kid, wanted, guarded, keys);
    return;
  }
  const auto any = [&](const auto& holds) { return std::any_of(guarded.begin(), guarded.end(), holds); };
  const auto add_looked_up = [&](const Node* call) {
    if (call && is_place(call->kids[1]) &&
        any([&](const Node* one) { return fills(one, call->kids[0], call->kids[1]); }))
      keys.push_back(bare(call->kids[1]));
  };
  const bool by_operator = n->op == Op::call && n->function && n->kids.size() == 2 &&
                           (n->function->spelled == "operator==" || n->function->spelled == "operator!=");
  const bool compared = n->op == Op::binary && (n->binary() == BinaryOp::eq || n->binary() == BinaryOp::ne);
  if (!by_operator && !compared) {
    if (!wanted) add_looked_up(looked_up(n));  // `!graphs.contains(key)`
    return;
  }
  const bool equal = by_operator ? n->function->spelled == "operator==" : n->binary() == BinaryOp::eq;
  for (const size_t i : {0, 1}) {
    const Node* one = n->kids[i];
    const Node* other = n->kids[1 - i];
    if (equal != wanted && is_place(one) && is_place(other) && !ends_with_the_call(one) &&
        any([&](const Node* part) { return keeps(part, one, other); }))
      keys.push_back(bare(other));
    if (equal == wanted) add_looked_up(looked_up(one));  // `graphs.find(key) == graphs.end()`
  }
}

// In the state that holds where `guarded` runs.
void Interpreter::forget_keys(const Node* condition, bool wanted, const std::vector<const Node*>& guarded,
                              State& state) {
  if (state.dead || state.flow.region) return;
  std::vector<const Node*> keys;
  find_keys(condition, wanted, guarded, keys);
  if (keys.empty() ||
      std::none_of(guarded.begin(), guarded.end(), [&](const Node* one) { return begins_below(one); }))
    return;
  State* const before = std::exchange(cells_.now, &state);
  for (const Node* key : keys)
    for (const PathId place : places(key))
      if (s().find(place)) {
        s().at(place).taint = nullptr;
        s().at(place).deep = false;
      }
  cells_.now = before;
}

}  // namespace capgate::lint
