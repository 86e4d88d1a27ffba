// What the templates of a library call back: the user's comparators, function objects, copy constructors.
#include <algorithm>

#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

// The user's functions with a body that `library`, or what it calls, calls.
const std::vector<Function*>& Questions::callbacks_of(Function& library) {
  constexpr size_t kMaxBodies = 80;
  const auto [it, fresh] = callbacks_.try_emplace(&library);
  if (!fresh) return it->second;
  std::vector<Function*> queue{&library}, found;
  std::unordered_set<Function*> seen{&library};
  for (size_t i = 0; i < queue.size() && i < kMaxBodies; ++i) {
    lowering_.lower(*queue[i]);
    const std::vector<Function*> callees = queue[i]->callees;
    for (Function* callee : callees) {
      if (!callee->has_body || callee->device_only || !seen.insert(callee).second) continue;
      // A lambda of the library's own headers may be placed where the user calls it.
      (callee->user && !callee->name.starts_with("std::") ? found : queue).push_back(callee);
    }
  }
  return callbacks_[&library] = std::move(found);
}

// On objects that nothing is known of, and perhaps never.
void Interpreter::call_back(const Node* n, Function& library, const std::vector<Argument>& arguments) {
  if (!s().flow.region || s().dead || !library.has_body || library.user) return;
  std::unordered_set<const Function*> followed;
  for (const Argument& a : arguments)
    for (const CallablesId one : candidates_of(callable_of(a)))
      if (one) followed.insert(&program_.functions[one - 1]);
  const std::vector<Function*> callbacks = callbacks_of(library);
  for (Function* f : callbacks) {
    const Reach& r = reach(*f);
    if (followed.contains(f) || !(r.calls_api || r.launches || r.leaves_unit || r.asks)) continue;
    if (r.begins_region || r.ends_region) continue;  // guards: their holders are modelled
    const State before = s();
    apply_unknown(*f, n);
    if (s().dead)
      s() = before;
    else
      join(s(), before, paths_, target_sets_, before.flow);
    s().flow = before.flow;
  }
}

Value Interpreter::apply_unknown(Function& f, const Node* at) {
  std::vector<Argument> arguments;
  const bool is_root = !frame_->up && frame_->function == &f;  // whose callers may be in another unit
  for (const Variable* p : f.params) {
    Argument a;
    a.node = at;
    if (is_root) a.value.count = counts::input(static_cast<uint32_t>(arguments.size()));
    const PathId behind = paths_.extend(root_of(p), Step::deref, 0);
    if (p->type && p->type->shape == Shape::reference)
      a.places = {behind};
    else if (p->type && p->type->shape == Shape::pointer)
      a.value.targets = target_sets_.one(behind);
    arguments.push_back(std::move(a));
  }
  std::vector<PathId> self;
  if (f.self) self.push_back(paths_.extend(root_of(f.self), Step::deref, 0));
  return apply(f, at, arguments, f.self ? &self : nullptr);
}

}  // namespace capgate::lint
