// Functions that are handed to a library, and what it calls them with.
#include "static_checks/interpret/interpreter.h"
#include "static_checks/sources/library_names.h"

namespace capgate::lint {

void Interpreter::call_callables(const Node* n, std::vector<Argument>& arguments) {
  const Trace* content = nullptr;
  std::vector<PathId> referents;
  for (const Argument& a : arguments) {
    if (a.value.callable) continue;
    if (!content) content = cells_.content_of(a.value);
    for (const PathId p : a.places)
      if (const Cell* c = s().find(p)) {
        Value inner;
        inner.targets = c->targets;
        if (!content) content = cells_.content_of(inner);
        for (const PathId t : target_sets_[c->targets]) referents.push_back(paths_.indexed(t, kAny));
      }
    for (const PathId p : targets(a.value)) referents.push_back(paths_.indexed(p, kAny));
  }
  for (size_t at = 0; at < arguments.size(); ++at) {
    const Argument& a = arguments[at];
    const CallablesId callable = callable_of(a);
    if (!callable) {
      if (a.node && holds_a_callable(value_type(a.node))) unknown_target(n, text_of(a.node));
      continue;
    }
    for (const CallablesId one : candidates_of(callable)) {
      if (!one) {
        unknown_target(n, a.node ? text_of(a.node) : "");
        continue;
      }
      const Function& f = program_.functions[one - 1];
      std::vector<Argument> given;
      // As std::thread and std::async do, what follows may go in as it is.
      const bool follow = f.params.size() == arguments.size() - at - 1;
      for (const Variable* p : f.params) {
        Argument parameter;
        if (follow) {
          const Argument& own = arguments[at + 1 + given.size()];
          parameter.value.count = operand_of(own.node, own.value);
        }
        parameter.node = n;
        parameter.value.taint = content;
        const Type* type = p->type && p->type->shape == Shape::reference ? p->type->inner : p->type;
        if (type && type->status) parameter.value.taint = nullptr;
        if (p->type && p->type->shape == Shape::reference) {
          if (!referents.empty())
            parameter.places = referents;
          else
            parameter.places = cells_.place_or_temporary(n, parameter.value);
        }
        given.push_back(std::move(parameter));
      }
      // An algorithm may call it never, or again with what it has left.
      constexpr int kMaxRounds = 3;
      for (int round = 0; round < kMaxRounds; ++round) {
        const State before = s();
        std::vector<Argument> again = given;
        invoke(one, n, again);
        if (s().dead)
          s() = before;
        else
          join(s(), before, paths_, target_sets_, before.flow);
        if (s().same(before)) break;
      }
    }
  }
}

// Another thread captures nothing of ours.
void Interpreter::start_thread(const Node* n, std::vector<Argument>& arguments) {
  const Flow flow = s().flow;
  s().flow = Flow{};
  call_callables(n, arguments);
  s().flow = flow;
}

CallablesId Interpreter::callable_of(const Argument& argument) {
  if (argument.value.callable) return argument.value.callable;
  for (const PathId p : argument.places)
    if (const CallablesId callable = cells_.callable_at(p)) return callable;
  return 0;
}

}  // namespace capgate::lint
